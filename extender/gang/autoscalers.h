// Says on which nodes an autoscaler must not count for the pods of a gang that waits. Pure.
//
// An autoscaler counts slots. If a node has a free slot and no GPU that the gang may have, the autoscaler
// takes a pod of the gang for one that fits there, and adds no node. Karpenter heeds what a pod prefers as
// long as a new node can satisfy it. So a pod whose gate is lifted without a plan prefers other nodes. That
// binds no scheduler: Filter() leaves it the node of the plan alone.
#pragma once

#include <map>
#include <string>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// Returns what the gang's waiting pods must prefer, by UID, as JSON of
// preferredDuringSchedulingIgnoredDuringExecution. A pod whose preferences may stay as they are is left out.
// As many pods as there are free GPUs for on a node may have that node, if no other gang waits for GPUs.
std::map<std::string, std::string> PreferencesOf(const GangStore& store, const GangRecord& gang);

}  // namespace crossover::extender
