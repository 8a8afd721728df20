// Defines the JobProfile: what is known about the jobs of one kind. The extender writes it, and the extender
// and the CLI read it, by the functions of this file.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/api/communication.h"

namespace crossover::api {

// A JobProfile holds what is known about the jobs with one key in one namespace. Times are seconds of one
// iteration of a job that runs alone, as the mean over its ranks; `at_s` and `began_s` are seconds since
// 1970. The extender computes the figures of the status, and the `gain` of each meeting, from the history,
// which is `runs` and the `gains` of all meetings.
struct JobProfile {
  // A Slowest describes the rank of a run with the longest compute. A rank is slow if its compute is kSlow
  // times the median of the ranks or more. `since_s` is when this rank became slow; 0: it is not slow.
  struct Slowest {
    std::string pod, node;
    double compute_s = 0;
    double since_s = 0;

    friend bool operator==(const Slowest&, const Slowest&) = default;
  };
  static constexpr double kSlow = 1.05;
  // An InputWait describes the rank of a run that waits longest for its input, and for how long it waits in
  // an iteration. In a data-parallel job the other ranks wait as long, for this rank.
  struct InputWait {
    std::string pod, node;
    double seconds = 0;

    friend bool operator==(const InputWait&, const InputWait&) = default;
  };
  // A Run is one run of a job with this key, over all nodes.
  struct Run {
    std::string gang;
    double began_s = 0, at_s = 0;  // when it was first and last seen
    int gpus = 0;
    int nodes = 0;  // nodes of these GPUs; 0: not known
    int iterations = 0;
    bool estimated = false;
    bool disturbed = false;  // the job ran beside a process that took no part
    // Says whether it shared at least one GPU with another job for long enough to be measured. The writer
    // leaves out a run that did not: one without the field may be older than the field.
    std::optional<bool> shared{};
    double compute_s = 0, exposed_s = 0, jitter = 0;
    std::uint64_t peak_memory = 0;
    // Compute of the rank in the middle, and of the slowest one; 0 and nothing if fewer than two ranks are
    // known.
    double median_s = 0;
    Slowest slowest{};
    InputWait input{};  // nothing if no rank waits for input
    // For how long of an iteration the busiest uplink of a node carries what its pods send to each other: as
    // they are placed, and as they would be by what they send. Both are 0 if the carried bytes are not known.
    double uplink_s = 0, least_uplink_s = 0;

    friend bool operator==(const Run&, const Run&) = default;
  };
  // A Gain says how much faster two runs were side by side than one after the other.
  struct Gain {
    std::string gang, other;
    double gain = 0;
    double at_s = 0;

    friend bool operator==(const Gain&, const Gain&) = default;
  };
  // A Meeting has the gains beside the jobs of one other profile, and their weighted mean.
  struct Meeting {
    std::string name_space, key;  // of the other profile
    std::vector<Gain> gains{};
    double gain = 0;

    friend bool operator==(const Meeting&, const Meeting&) = default;
  };
  std::string name_space, name;
  std::string key;
  bool hinted = false;     // the times below come from a user; else they were measured
  bool has_hints = false;  // a user wrote figures into its spec, even if others were measured since
  double compute_s = 0, exposed_s = 0;
  double jitter = 0;
  std::uint64_t peak_memory = 0;
  // The busiest pod sends other pods, or gets from them, this many bytes in an iteration; 0: not known.
  double link_bytes = 0;
  int gpus = 0;        // number of GPUs that its gang had
  double input_s = 0;  // the longest wait of a rank for its input, in the newest run
  std::vector<Run> runs;
  std::vector<Meeting> meetings;
  Communication communication{};

  friend bool operator==(const JobProfile&, const JobProfile&) = default;
};

// These are the limits of a JobProfile's history. The writer drops the oldest entries first.
inline constexpr std::size_t kMostRuns = 8;
inline constexpr std::size_t kMostMeetings = 32;
inline constexpr std::size_t kMostGains = 4;  // of a meeting

// Reads a JobProfile as an API server has it. Returns nothing if its name or namespace is missing. Any other
// field that is missing or malformed counts as not set. Prefers measured figures (status) to those of a user
// (spec). The key is what the spec says, or else the object's name. Leaves out runs without a gang and
// meetings with neither a mean gain nor single gains, and what is above kMostRuns and kMostGains. A text of
// more than kLongestText bytes counts as not set, and so does the whole `communication` if a part of it is
// malformed. Does not throw.
std::optional<JobProfile> ParseJobProfile(const nlohmann::json& object);

// Return a run and a meeting in the form that they have in a JobProfile. Figures are rounded, as more digits
// of them are noise.
nlohmann::json WriteRun(const JobProfile::Run& run);
nlohmann::json WriteMeeting(const JobProfile::Meeting& meeting);

}  // namespace crossover::api
