// Joins what the nodes say of the calls of one job into groups of its pods, and counts the runs that agree.
// Pure.
//
// Reports are foreign data: any pod may have sent them. What they say has an effect on the job alone that has
// these pods.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "extender/cluster/model.h"

namespace crossover::extender {

// A PodName is a namespace and the name of a pod in it.
using PodName = std::pair<std::string, std::string>;
// A PodOrder says where pods stand in the order of their ranks (gang/pod_rank.h). Only the order of pods of
// one job has a meaning.
using PodOrder = std::map<PodName, std::size_t>;

// JoinedCalls are the calls of all ranks of a job.
struct JoinedCalls {
  std::vector<std::string> names;  // of the pods, by their numbers
  std::vector<CallGroup> groups;   // sorted by function and members, each pair of these once
  // This is false if something is missing or contradictory; `groups` may then lack some groups.
  bool complete = true;

  int pods() const { return static_cast<int>(names.size()); }
};

// Joins the calls of one job, in the namespace `name_space`, that all nodes report. The pods that call
// something are numbered from 0 in the order `order`.
//
//   of one communicator                             result
//   a rank missing, twice, or in two pods;       -> none of its groups, not complete
//   ranks that differ in the size
//   a collective that some ranks do not call     -> none of this function, not complete
//   ranks that differ in the bytes of a call     -> the most counts
//   Send                                         -> a group of two, as the sender says it
//   Recv                                         -> nothing
//
// The result is not complete, either, if a pod has no place in `order`, or if there are more than
// kMostCallGroups groups, or kMostMembers members or pods. Groups of no byte are left out. Groups of one pod
// alone are kept.
JoinedCalls JoinCalls(std::span<const NcclCall* const> calls, const std::string& name_space,
                      const PodOrder& order);

// Returns whether both have the same pods and groups, with bytes within kSameBytes of each other.
bool Agree(const Communication& a, const Communication& b);
inline constexpr double kSameBytes = 0.1;  // of the larger one

// Counts what a run calls. `run` is the run as a whole, `calls` what was joined of it. The run that counts
// has to be the one that was counted last, or one that began later: calls of an earlier run, and calls that
// are not complete, change nothing. The same run counts once. Calls that differ from what `known` has replace
// it.
void CountRun(const JoinedCalls& calls, const JobProfile::Run& run, Communication* known);

// Returns the compute of each of the pods `names` in an iteration on a GPU of speed 1, by what the nodes
// report of one job. A pod with several ranks has the longest compute of these. Returns nothing if a rank's
// GPU has a model without a speed, or a pod has no rank whose compute is known.
std::vector<double> ComputeOfPods(const std::vector<std::string>& names,
                                  std::span<const GpuNode::Job* const> nodes, const GpuSpeeds& speeds);

// Returns the speed of the slowest GPU of each of the pods `names`, by what the nodes report of one job; 0 if
// a GPU has a model without a speed, or no rank of the pod is known.
std::vector<double> SpeedsOfPods(const std::vector<std::string>& names,
                                 std::span<const GpuNode::Job* const> nodes, const GpuSpeeds& speeds);

// Sets the compute of the pods in `known` to `seen`, the compute of all pods, if the run is the one that was
// counted last and the compute of one pod has changed by more than kSameCompute. An empty `seen` changes
// nothing.
void KeepCompute(std::vector<double> seen, const JobProfile::Run& run, Communication* known);
inline constexpr double kSameCompute = 0.1;  // of the larger one

}  // namespace crossover::extender
