// Holds the history of the jobs with one profile key in one namespace, from which the extender computes a
// JobProfile's status. These are plain values; times are seconds since 1970.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "extender/cluster/model.h"
#include "extender/profiles/uplinks.h"

namespace crossover::extender {

using ProfileRun = JobProfile::Run;
using ProfileGain = JobProfile::Gain;
using ProfileMeeting = JobProfile::Meeting;  // its `gain` is not used: GainOf() computes it

// A ProfileId is a namespace and a key.
using ProfileId = std::pair<std::string, std::string>;

// A PlacedRun has what the times of a run's uplinks were last computed from, because that may take long.
struct PlacedRun {
  std::vector<placement::SeatPlace> seats;  // by pod
  std::vector<CallGroup> groups;
  std::vector<double> compute_s;  // by pod
  std::optional<UplinkTimes> times;
};

// A ProfileRecord is what ProfileKeeper keeps of one JobProfile.
struct ProfileRecord {
  std::string name;        // of the JobProfile; empty: there is none yet
  bool has_hints = false;  // its user wrote figures into it
  std::vector<ProfileRun> runs;
  std::vector<ProfileMeeting> meetings;
  Communication communication{};
  std::map<std::string, PlacedRun> placed{};  // by gang, of those that nodes report; it is in no JobProfile

  // Returns when a run of this record was last seen, or 0 if it has no run.
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
  double unused_s = 90 * 86400;     // profiles that no job used for this long are removed
  double noticeable = 0.05;         // share by which a figure must change to be written
  double least_gap_s = 60;          // between two writes of one profile
  double refresh_s = 6 * 3600;      // after this long, the last use is written even if no figure changed
  GpuSpeeds gpu_speeds{};
};

}  // namespace crossover::extender
