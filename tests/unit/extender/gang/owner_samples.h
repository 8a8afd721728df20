// Makes jobs of each kind in the extender's table of owners (extender/gang/owner_kinds.h), and of the gangs
// that have no owner there. Each job has three pods.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "extender/cluster/cluster_cache.h"

namespace crossover::extender {

// An OwnerSample is a job of one kind.
struct OwnerSample {
  const char* name;
  Labels labels, annotations;  // of its pods
  Owner owner;                 // their controller
  // The object that says the size, with one pod done; null: the pods say the size.
  nlohmann::json object;
  const char* numbered = "";  // a label by which its pods are numbered, or ""
};

// Returns one job of each kind.
std::vector<OwnerSample> OwnerSamples();

// Returns a pod of the job that waits and has no gate. `number` is its place among the job's pods.
Pod PodOf(const OwnerSample& kind, const std::string& uid, int number = 0);

}  // namespace crossover::extender
