// Looks into objects of a cluster, which may be anything: none of it throws. Pure.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/facts.h"

namespace crossover::cli {

using nlohmann::json;

std::string NameOf(const json& object);
std::string NamespaceOf(const json& object);
std::string FullName(const json& object);  // namespace/name
std::string AnnotationOf(const json& object, const std::string& key);
std::string LabelOf(const json& object, const std::string& key);
// The list under a path of keys; empty where there is none.
const json& ListAt(const json& object, std::initializer_list<const char*> path);
std::string TextAt(const json& object, std::initializer_list<const char*> path);
// A number, or a quantity that is a whole number; 0 for what is none.
std::int64_t CountAt(const json& object, std::initializer_list<const char*> path, const std::string& last);

// Of a pod: its containers run, and are ready.
bool IsReady(const json& pod);
bool IsOver(const json& pod);  // it has ended
std::string NodeOf(const json& pod);
std::string GangOfPod(const json& pod);                  // of its annotation; empty: whoever made it says
std::optional<std::int64_t> UserOfPod(const json& pod);  // where all its containers have the same

// A pod in the host's namespace of processes, as the node daemon's are. Its labels say nothing: anybody may
// label a pod like that, and whoever looks would run a program of theirs; but where users' pods are
// restricted none of them is such a pod.
bool IsDaemon(const json& pod);

// Pods of ours of one component that have not ended.
std::vector<const json*> Programs(const ClusterFacts& facts, const std::string& component);

// Nodes that a daemon serves: by its pod, ready or not; or by the kubelet, which forgets slots some minutes
// after whoever gave them out has gone.
std::set<std::string> NodesWithDaemon(const ClusterFacts& facts);
// GPUNodes of these: nobody keeps the others up to date. All of them where our pods cannot be seen.
std::vector<const json*> KeptGpuNodes(const ClusterFacts& facts);

bool SaysMaintenance(const json& gpu_node);

// Who has slots of a GPU, by these GPUNodes.
struct Holder {
  std::string node, gpu;
  std::string pod;  // with its namespace
  std::string gang;
  std::vector<std::string> slots;
};
std::vector<Holder> HoldersIn(const ClusterFacts& facts);

}  // namespace crossover::cli
