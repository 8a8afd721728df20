// What is known of the jobs with one profile key in one namespace: all that a JobProfile's status says. Plain
// values; instants are seconds since 1970.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace crossover::extender {

// One run of such a job, over all nodes.
struct ProfileRun {
  std::string gang;
  double began_s = 0, at_s = 0;  // it was seen first, and last
  int gpus = 0;
  int iterations = 0;
  bool estimated = false;
  bool disturbed = false;  // beside a process that took no part
  bool shared = false;     // beside another job, on any of its GPUs, for long enough to be measured
  double compute_s = 0, exposed_s = 0, jitter = 0;
  std::uint64_t peak_memory = 0;
};

// What two runs gained beside each other, over one after the other.
struct ProfileGain {
  std::string gang, other;
  double gain = 0;
  double at_s = 0;
};

struct ProfileMeeting {
  std::string name_space, key;  // of the other
  std::vector<ProfileGain> gains;
};

// By namespace and key.
using ProfileId = std::pair<std::string, std::string>;

struct ProfileRecord {
  std::string name;     // of its object; empty: there is none yet
  bool hinted = false;  // its user wrote figures into it
  std::vector<ProfileRun> runs;
  std::vector<ProfileMeeting> meetings;

  double last_seen_s() const {
    double last = 0;
    for (const ProfileRun& run : runs) last = run.at_s > last ? run.at_s : last;
    return last;
  }
};

using ProfileRecords = std::map<ProfileId, ProfileRecord>;

// What administrators may say about profiles.
struct ProfileSettings {
  double half_life_s = 14 * 86400;  // what is so much older than the newest counts half
  double forget_s = 30 * 86400;     // older meetings are forgotten: the two may meet again
  double unused_s = 90 * 86400;     // profiles that no job used for so long are removed
  double noticeable = 0.05;         // a figure that has changed by less is not written
  double least_gap_s = 60;          // between two writes of one profile
  double refresh_s = 6 * 3600;      // after which it is written that a profile is still used
};

}  // namespace crossover::extender
