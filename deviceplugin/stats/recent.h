// Keeps a client's last turns and iterations and computes their medians and means. Pure; not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "common/base/clock.h"
#include "turn/timing_model.h"

namespace crossover::deviceplugin {

// A RecentDurations keeps the last durations of one kind.
class RecentDurations {
 public:
  static constexpr std::size_t kKept = 64;

  void Add(turn::Time duration) { kept_[added_++ % kKept] = duration; }
  std::optional<turn::Time> Median() const;

 private:
  std::array<turn::Time, kKept> kept_{};
  std::size_t added_ = 0;
};

// A RecentSteps computes the time of an iteration: the mean over the iterations of the last kWindow, or over
// the last few if iterations are long. The client's host runs ahead of its GPU, so single iterations say
// little. Stalls (an evaluation, a checkpoint) do not count: iterations that took kStall times the median or
// longer.
class RecentSteps {
 public:
  static constexpr turn::Time kWindow = 10 * base::kNsPerSecond;
  static constexpr std::size_t kMost = 512;   // reports kept
  static constexpr std::size_t kFew = 4;      // reports kept however old they are
  static constexpr std::uint32_t kLeast = 5;  // iterations before there is a mean
  static constexpr turn::Time kStall = 4;

  void Add(turn::Time at, turn::Time each, std::uint32_t count);
  void Clear() { reports_.clear(); }

  // Returns the mean, or nothing until it has kLeast iterations.
  std::optional<turn::Time> Mean() const;
  // Returns Mean(), or nothing if no iteration has come for kWindow and for kStall times the mean.
  std::optional<turn::Time> MeanAt(turn::Time now) const;
  // Returns the standard error of Mean(), relative to the mean, or 1 if there is no mean.
  double Error() const;

 private:
  struct Report {
    turn::Time at;
    turn::Time each;
    std::uint32_t count;
  };
  turn::Time Stall() const;
  std::deque<Report> reports_;
};

}  // namespace crossover::deviceplugin
