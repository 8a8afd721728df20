// Merges what all nodes report about their jobs into the records. Pure.
#pragma once

#include <span>

#include "extender/cluster/model.h"
#include "extender/profiles/communication.h"
#include "extender/profiles/record.h"

namespace crossover::extender {

// Returns `known` with `jobs`, the jobs of all nodes, merged in. A repeated report counts once: a run is
// identified by its gang and its time, a gain by both gangs and its time. The figures of a run are means
// over its ranks; peak memory is the maximum. Jobs without a key are left out. So are gains of more than
// two jobs, because they cannot be split between pairs. `order` has the places of the pods that the jobs
// name; what a run calls counts only if all of its pods are there. The times of a run's uplinks are known
// once enough runs agree (kRunsThatAgree), if `places` has the nodes of all of its pods.
ProfileRecords Merge(ProfileRecords known, std::span<const GpuNode::Job> jobs, double now_s,
                     const ProfileSettings& settings, const PodOrder& order = {},
                     const NodePlaces& places = {});

// Adds to `record` what `other`, another record of the same jobs, knows.
void Join(const ProfileRecord& other, ProfileRecord* record);

}  // namespace crossover::extender
