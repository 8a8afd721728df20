// Runs `kubectl crossover explain`, which shows why a pod or a gang is where it is, or has no node.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/cluster/facts.h"
#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ExplainOptions {
  std::string kind;  // pod or gang
  std::string name;
  std::string name_space;  // empty: the namespace of the context
  Showing show;
};
// Prints the explanation and returns the exit code: 1 if the pod or gang does not exist.
int Explain(const Kubectl& kubectl, const ExplainOptions& options);

// Returns what explains each of `pods`: its node, its GPUs and the gangs beside it, its last events, and the
// needs and gains of its gang. `events` are those of the namespace (events.k8s.io). `gpu_nodes` may be null
// or empty if the user may not list them. Pure.
nlohmann::json ExplainPods(const nlohmann::json& pods, const nlohmann::json& events,
                           const nlohmann::json& gpu_nodes);
// Adds to the explanation which of its gangs are on several nodes whose racks no label names
// (GangsOverUnnamedDomains()), as `facts` say it. Pure.
void ExplainDomains(const ClusterFacts& facts, nlohmann::json* explanation);
// Adds to the explanation what the profiles of its gangs know of their calls (status.communication), as it
// is. `profiles` are the JobProfiles of the namespace. Pure.
void ExplainCommunication(const nlohmann::json& pods, const nlohmann::json& profiles,
                          nlohmann::json* explanation);
// Returns the gangs of an explanation's pods by the pods' full names.
std::map<std::string, std::string> GangsByPod(const nlohmann::json& explanation);
// Returns the explanation as text.
std::string ExplanationText(const nlohmann::json& explanation);

// Returns those of `pods` that belong to the gang that a user calls `gang`, with or without its namespace.
// What the nodes report about a pod decides. Without a report its annotation decides. Without an annotation
// the labels (kube::JobNamedBy) or owner references decide that name the object that made the pod.
nlohmann::json PodsOfGang(const nlohmann::json& pods, const nlohmann::json& gpu_nodes,
                          const std::string& gang);

}  // namespace crossover::cli
