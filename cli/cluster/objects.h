// Reads objects of a cluster, which may have any content. No function throws. Pure.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/facts.h"
#include "common/api/gpu_node.h"
#include "common/api/job_profile.h"

namespace crossover::cli {

using nlohmann::json;

// These functions return "" if the object lacks the field.
std::string NameOf(const json& object);
std::string NamespaceOf(const json& object);
std::string FullName(const json& object);  // namespace/name
std::string AnnotationOf(const json& object, const std::string& key);
std::string LabelOf(const json& object, const std::string& key);
// Returns the list at a path of keys, or an empty one if there is none.
const json& ListAt(const json& object, std::initializer_list<const char*> path);
std::string TextAt(const json& object, std::initializer_list<const char*> path);
// Returns the number, or 0 if there is none.
double NumberAt(const json& object, const char* key);
// Returns the seconds at the key as milliseconds, with one digit after the point.
std::string InMs(const json& object, const char* key);
// Returns a sentence about when the run of an advice was last seen, which the advice has as "lastSeen".
std::string LastSeen(const json& advice);
// Returns a count, which may be a quantity (kube::CountOf). Returns 0 for anything else.
std::int64_t CountAt(const json& object, std::initializer_list<const char*> path, const std::string& last);

// Returns the texts in a ConfigMap's data.
std::vector<std::string> TextsOf(const json& config_map);

// Returns whether the pod's containers run and are ready.
bool IsReady(const json& pod);
// Returns whether the pod has ended.
bool IsOver(const json& pod);
std::string NodeOf(const json& pod);
// Returns the gang that the pod's annotation names, or "" if it has no such annotation.
std::string GangOfPod(const json& pod);

// Returns whether the pod is in the host's PID namespace, as node daemons are. The labels prove nothing: any
// user can set them on a pod, and the caller would then run that user's program. If users' pods are
// restricted, none of them can be in the host's PID namespace.
bool IsDaemon(const json& pod);

// Returns the pods of one component of ours that have not ended.
std::vector<const json*> Programs(const ClusterFacts& facts, const std::string& component);

// Returns the nodes that a daemon serves. On such a node the daemon has a pod, ready or not, or the kubelet
// still knows slots, which it forgets some minutes after the plugin is gone.
std::set<std::string> NodesWithDaemon(const ClusterFacts& facts);
// Return what the objects say. Both leave out objects that have no name, and JobProfiles without a namespace.
std::vector<api::GpuNode> ParsedGpuNodes(const json& gpu_nodes);
std::vector<api::JobProfile> ParsedProfiles(const json& profiles);
// Returns the GPUNodes of NodesWithDaemon(), because no daemon updates the others. Returns all of them if our
// pods cannot be seen.
std::vector<api::GpuNode> KeptGpuNodes(const ClusterFacts& facts);

// A Holder is a pod that has slots of one GPU, as the kept GPUNodes say.
struct Holder {
  std::string node, gpu;
  std::string pod;  // with its namespace
  std::string gang;
  std::set<std::string> slots;
};
// Returns the holders of all kept GPUNodes. A pod occurs once for each of its containers and GPUs.
std::vector<Holder> HoldersIn(const ClusterFacts& facts);

}  // namespace crossover::cli
