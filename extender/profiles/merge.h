// What all nodes say of their jobs, put into what is known. Pure.
#pragma once

#include <span>

#include "extender/cluster/model.h"
#include "extender/profiles/record.h"

namespace crossover::extender {

inline constexpr std::size_t kMostRuns = 8;       // of a profile; the oldest go first
inline constexpr std::size_t kMostMeetings = 32;  // likewise
inline constexpr std::size_t kMostGains = 4;      // of a meeting

// `jobs`: of all nodes. What is told again counts once: a run is known by its gang and when it was, a gain by
// both gangs. Of a run, the figures are means over its ranks, peak memory the most. Jobs without a key are
// left out, and so are gains of more than two jobs, of which nobody knows whose they are.
ProfileRecords Merge(ProfileRecords known, std::span<const GpuNode::Job> jobs, double now_s,
                     const ProfileSettings& settings);

// Adds what `other`, a record of the same jobs, knows beside it.
void Join(const ProfileRecord& other, ProfileRecord* record);

}  // namespace crossover::extender
