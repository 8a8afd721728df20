// Holds what is known about the jobs with one profile key in one namespace: everything that a JobProfile's
// status says. Plain values; times are seconds since 1970.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace crossover::extender {

// A ProfileRun is one run of such a job, over all nodes.
struct ProfileRun {
  std::string gang;
  double began_s = 0, at_s = 0;  // when it was first and last seen
  int gpus = 0;
  int iterations = 0;
  bool estimated = false;
  bool disturbed = false;  // it ran beside a process that took no part
  // It shared at least one GPU with another job for long enough to be measured.
  bool shared = false;
  double compute_s = 0, exposed_s = 0, jitter = 0;
  std::uint64_t peak_memory = 0;
};

// A ProfileGain says how much faster two runs were side by side than one after the other.
struct ProfileGain {
  std::string gang, other;
  double gain = 0;
  double at_s = 0;
};

// A ProfileMeeting has the gains beside the jobs of one other profile.
struct ProfileMeeting {
  std::string name_space, key;  // of the other profile
  std::vector<ProfileGain> gains;
};

// A ProfileId is a namespace and a key.
using ProfileId = std::pair<std::string, std::string>;

// A ProfileRecord is what one JobProfile says.
struct ProfileRecord {
  std::string name;     // of the JobProfile; empty: there is none yet
  bool hinted = false;  // its user wrote figures into it
  std::vector<ProfileRun> runs;
  std::vector<ProfileMeeting> meetings;

  // Returns when a run of such a job was last seen, or 0 if there is no run.
  double last_seen_s() const {
    double last = 0;
    for (const ProfileRun& run : runs) last = run.at_s > last ? run.at_s : last;
    return last;
  }
};

using ProfileRecords = std::map<ProfileId, ProfileRecord>;

// ProfileSettings are the limits and periods by which profiles are kept. The extender uses these defaults.
struct ProfileSettings {
  double half_life_s = 14 * 86400;  // a figure so much older than the newest has half its weight
  double forget_s = 30 * 86400;     // older gains are dropped, so the two jobs may be paired again
  double unused_s = 90 * 86400;     // profiles that no job used for so long are removed
  double noticeable = 0.05;         // share by which a figure must change to be written
  double least_gap_s = 60;          // between two writes of one profile
  double refresh_s = 6 * 3600;      // after so long, the last use is written even if no figure changed
};

}  // namespace crossover::extender
