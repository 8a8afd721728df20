// What a record comes down to. Pure.
#pragma once

#include <cstdint>

#include "extender/profiles/record.h"

namespace crossover::extender {

// Seconds of one iteration; 0: not known.
struct ProfileFigures {
  double compute_s = 0, exposed_s = 0, jitter = 0;
  std::uint64_t peak_memory = 0;
  int gpus = 0;
  int samples = 0;  // runs that count
};

// Runs weigh by how many iterations they are from (half where those were only estimated) and by how much
// older than the newest they are. One that ran beside a process that took no part counts only where it is
// within a quarter of what the others say. Peak memory is the most of all; GPUs are those of the newest.
ProfileFigures FiguresOf(const ProfileRecord& record, const ProfileSettings& settings);

// Of all times that the two met, by how much older than the newest they are.
double GainOf(const ProfileMeeting& meeting, const ProfileSettings& settings);

}  // namespace crossover::extender
