// What is known of a job: how long it computes and stays away in an iteration, how much that varies, what an
// iteration takes alone, how much memory it needs. Values; pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "deviceplugin/arbiter/observer.h"
#include "turn/shares.h"

namespace crossover::deviceplugin {

// What one job is: the same name of another user, or with another number of ranks, is another job.
struct JobKey {
  std::string gang;
  std::uint32_t uid = 0;
  std::uint32_t size = 0;

  friend auto operator<=>(const JobKey&, const JobKey&) = default;
};

inline JobKey JobOf(const arbiter::Member& member) { return {member.gang, member.uid, member.gang_size}; }

enum class FigureSource : std::uint8_t {
  kMeasured,    // of steps, while no other job was on the job's GPUs of this machine
  kRemembered,  // likewise, by an earlier process of the job
  kEstimated,   // of steps, from turns and the gaps between them
  kTurns,       // from turns and the gaps between them
  kNvml,        // as the driver says
  kRefused      // of memory, from a budget that was too little
};

template <class T>
struct Figure {
  T value{};
  turn::Time at = 0;  // when it was learned; of the monotonic clock, negative if before this boot
  FigureSource source = FigureSource::kMeasured;
  double error = 0;  // standard error, as a part of it, where that is known

  friend bool operator==(const Figure&, const Figure&) = default;
};

struct JobProfile {
  JobKey job;
  // Of the slowest of its ranks on this machine, nanoseconds.
  std::optional<Figure<turn::Time>> step_alone;
  std::optional<Figure<turn::Time>> compute;  // c: on the GPU
  std::optional<Figure<turn::Time>> away;     // m: away from it; known where `compute` is, of the same rank
  std::optional<Figure<double>> jitter;       // of compute, over compute
  // Of the rank that needs most, on one GPU.
  std::optional<Figure<std::uint64_t>> peak_memory;
  // When it last ran beside a process that took no part, on the clock of Figure::at: but for its memory
  // nothing was learned of it then.
  std::optional<turn::Time> disturbed;

  friend bool operator==(const JobProfile&, const JobProfile&) = default;

  bool empty() const { return !step_alone && !compute && !jitter && !peak_memory && !disturbed; }
  turn::Time newest() const;  // instant of what was learned last; turn::kNever of an empty one, negated
  turn::Demand demand() const;
};

// Puts what one rank has learned since `since`, when it came, into what was `known` of its job: figures older
// than that are replaced, those that another rank has learned meanwhile by greater ones. A step that was only
// estimated replaces none that was measured.
void Learn(const JobProfile& fresh, turn::Time since, JobProfile* known);

}  // namespace crossover::deviceplugin
