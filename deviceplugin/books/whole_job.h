// What the iterations of a job would take alone, as the turns of its ranks on this machine show it.
//
// Alone, all ranks begin an iteration together and its collective begins with the slowest of them: an
// iteration is as long as the longest turn of any rank, and the shortest absence of any (the absence of the
// rank that came to the collective last). Neither depends on how long ranks wait for their turns. Where ranks
// differ from one iteration to the next (jitter, stragglers), the mean of the longest turn is well above the
// mean turn, and no single GPU can tell it.
//
// Not all ranks of a job need be here. Where some are not, what is longer because of them is reckoned from
// the turns that are seen, as if all ranks were alike and drew for themselves; a quarter of it counts as
// error.
//
// Pure: times come in. Not thread-safe. Bounded.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "common/base/clock.h"
#include "deviceplugin/books/precision.h"
#include "turn/ops.h"
#include "turn/rhythm.h"

namespace crossover::deviceplugin {

class WholeJob {
 public:
  static constexpr turn::Time kWindow =
      10 * base::kNsPerSecond;               // as RecentSteps, whose draws these should be
  static constexpr std::size_t kMost = 512;  // iterations kept
  static constexpr std::size_t kFew = 64;    // kept however old they are
  static constexpr std::size_t kLeast = 8;   // before anything is said
  static constexpr turn::Time kStall = 4;    // times the median: left out, as in RecentSteps
  static constexpr std::size_t kMostRanks = 64;
  // By how much turns in company are off what they are alone, as a part: collectives of others hold SMs,
  // links are shared.
  static constexpr double kInCompany = 0.03;

  struct Part {
    std::uint64_t rank = 0;  // any name of it
    std::uint32_t iteration = 0;
    std::uint32_t position = 0;  // of the turn in its iteration
    std::uint32_t turns = 1;     // of an iteration
  };
  // A turn in all its stretches, and how long the rank stayed away after it.
  void NoteTurn(const Part& part, turn::Time turn, turn::Time now);
  void NoteAway(const Part& part, turn::Time away, turn::Time now);

  // An iteration alone; `ranks` of the whole job, 0 if that is not known: then all are taken to be here. Its
  // error includes kInCompany. Nothing until enough iterations have been seen whole.
  std::optional<Precise> Alone(std::uint32_t ranks) const;
  // How much one iteration alone differs from the mean (the standard deviation), as a part of it. As above.
  std::optional<double> Spread(std::uint32_t ranks) const;

 private:
  struct Iteration {
    std::uint32_t number = 0;
    turn::Time at = 0;
    std::uint32_t turns = 1;
    std::array<turn::Time, turn::kMaxTurns> longest = {};
    std::array<turn::Time, turn::kMaxTurns> shortest = {};  // absence
    std::array<std::uint32_t, turn::kMaxTurns> turns_seen = {};
    std::array<std::uint32_t, turn::kMaxTurns> aways_seen = {};
    std::map<std::uint64_t, turn::Time> computed = {};  // by rank
  };
  struct Sums;
  Iteration* At(const Part& part, turn::Time now);
  std::size_t RanksHere() const;
  Sums Sum() const;

  std::deque<Iteration> iterations_;
};

}  // namespace crossover::deviceplugin
