// Builds what a gang asks of the placement engine, from its pods' annotations and its job's profile. Pure.
#pragma once

#include <span>
#include <string>

#include "extender/cluster/cluster_cache.h"
#include "extender/gang/membership.h"
#include "extender/placement/model.h"

namespace crossover::extender {

// A Request is the gang as the engine gets it.
struct Request {
  placement::Gang gang;
  std::string fault;  // names key, what is expected and the value; if not empty, `gang` must not be placed
  bool names_memory;  // its pods name their limit of GPU memory themselves
};

// Builds the request of a gang whose `pods` pods must be placed. REQUIRES: `members` are pods of this gang,
// at least one.
Request RequestOf(const Membership& membership, std::span<const Pod* const> members, int pods,
                  const ClusterCache& cache);

// Returns the value of an annotation of the pod, or "" if it has none of this key.
std::string AnnotationOf(const Pod& pod, const char* key);

// Returns whether the owner of the pod leaves the level of compressed reductions to the cluster.
bool LeavesLevelToUs(const Pod& pod);

// Returns how much of each GPU's memory the pod was granted, in bytes. Returns 0 if it was granted none.
placement::Bytes GrantedOn(const Pod& pod);

}  // namespace crossover::extender
