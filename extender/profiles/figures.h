// Sums up a profile's record. Pure.
#pragma once

#include <cstdint>

#include "extender/profiles/record.h"

namespace crossover::extender {

// ProfileFigures describe one iteration of a job. Times are in seconds; 0 means not known.
struct ProfileFigures {
  double compute_s = 0, exposed_s = 0, jitter = 0;
  std::uint64_t peak_memory = 0;
  int gpus = 0;
  int samples = 0;  // runs that count
};

// Returns weighted means over the runs. A run weighs more the more iterations it measured (half if they
// were only estimated) and less the older it is than the newest. A run beside a process that took no part
// counts only if it is within a quarter of the other runs' mean. Peak memory is the maximum; `gpus` is that
// of the newest run.
ProfileFigures FiguresOf(const ProfileRecord& record, const ProfileSettings& settings);

// Returns the mean gain of all times that the two jobs met. A gain weighs less the older it is than the
// newest.
double GainOf(const ProfileMeeting& meeting, const ProfileSettings& settings);

}  // namespace crossover::extender
