// Defines the profile of a job: how long it computes and stays away from the GPU in an iteration, how much
// that varies, how long an iteration takes alone, and how much memory the job needs. Values; pure.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "deviceplugin/arbiter/observer.h"
#include "turn/fair_share.h"

namespace crossover::deviceplugin {

// A JobKey identifies a job. The same name of another user, or with another number of ranks, is another job.
struct JobKey {
  std::string gang;
  std::uint32_t uid = 0;
  std::uint32_t size = 0;

  friend auto operator<=>(const JobKey&, const JobKey&) = default;
};

inline JobKey JobOf(const arbiter::Member& member) { return {member.gang, member.uid, member.gang_size}; }

enum class MeasurementSource : std::uint8_t {
  kMeasured,    // step time, measured while no other job was on the job's GPUs of this machine
  kRemembered,  // step time, measured in the same way on an earlier process of the job
  kEstimated,   // step time, computed from turns and the gaps between them
  kTurns,       // taken from turns and the gaps between them
  kNvml,        // reported by the driver
  kRefused      // memory, computed from a budget that was too small
};

template <class T>
struct Measurement {
  T value{};
  turn::Time at = 0;  // when it was learned; monotonic clock, negative if before this boot
  MeasurementSource source = MeasurementSource::kMeasured;
  double error = 0;  // standard error, relative to `value`; 0 if it is not known

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

struct JobProfile {
  JobKey job;
  // Holds the step time alone, in ns, of the slowest of the job's ranks on this machine.
  std::optional<Measurement<turn::Time>> step_alone;
  std::optional<Measurement<turn::Time>> compute;  // c: time on the GPU, ns
  std::optional<Measurement<turn::Time>> away;     // m: time away from it, ns, same rank; set with `compute`
  std::optional<Measurement<double>> jitter;       // variation of the compute time, relative to it
  // Holds the peak memory on one GPU, in bytes, of the rank that needs most.
  std::optional<Measurement<std::uint64_t>> peak_memory;
  // Holds the time, on the clock of Measurement::at, at which the job last ran beside a process that takes no
  // part. During such times the daemon learns only the job's memory.
  std::optional<turn::Time> disturbed;

  friend bool operator==(const JobProfile&, const JobProfile&) = default;

  bool empty() const { return !step_alone && !compute && !jitter && !peak_memory && !disturbed; }
  turn::Time newest() const;  // when the newest figure was learned; -turn::kNever if there is none
  turn::Demand demand() const;
};

// Adds the figures of one rank to `known`, the profile of its job. `since` is when the rank joined. A figure
// in `known` that is older than `since` is replaced. A figure that another rank has learned since then is
// replaced only by a larger one. An estimated step never replaces a measured one, and a measured one always
// replaces an estimated one.
void Learn(const JobProfile& fresh, turn::Time since, JobProfile* known);

}  // namespace crossover::deviceplugin
