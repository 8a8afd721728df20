// Holds the runs of jobs that JobProfiles record, as the advice needs them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/api/job_profile.h"
#include "common/gains/turns.h"

namespace crossover::cli {

inline constexpr double kSecondsPerHour = 3600;

// A SlowRank makes all other ranks of its run wait.
struct SlowRank {
  std::string pod, node, since;
  double compute_s = 0, median_s = 0;
  double cost = 0;  // part of a step by which it would be shorter
};

// A LongInput describes the rank of a run that waits longest for its input.
struct LongInput {
  std::string pod, node;
  double seconds = 0;
  double cost = 0;  // part of a step by which it would be shorter
};

struct Run {
  std::string gang;
  std::int64_t gpus = 0;
  double began = 0, ended = 0;
  std::string last_seen{};  // `ended` as the profile has it
  gains::Use use{};         // `gpu` is 0 if its needs are not known
  bool shared = false;
  std::optional<SlowRank> slow{};
  std::optional<LongInput> input{};
  double gpu_hours() const { return static_cast<double>(gpus) * (ended - began) / kSecondsPerHour; }
};

using RunsByStart = std::map<std::pair<std::string, double>, Run>;  // by gang and start

// Returns the runs of each namespace in `profiles`. A run that two profiles report, by gang and start, is
// there once. `link_bytes_per_s` is the speed of a usual link of a node; 0: not known. Pure.
std::map<std::string, RunsByStart> RunsToldOf(const std::vector<api::JobProfile>& profiles,
                                              double link_bytes_per_s);
// Returns the runs of `told` that ended after `since_s` (Unix seconds) and did not share. Runs that shared
// are left out: what they saved needs no advice. Pure.
std::vector<Run> RunsAlone(const RunsByStart& told, double since_s);

}  // namespace crossover::cli
