// kubectl crossover explain: why a pod, or a gang, is where it is, or nowhere.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/cluster/facts.h"
#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ExplainOptions {
  std::string kind;  // pod or gang
  std::string name;
  std::string name_space;  // empty: the context's own
  Showing show;
};
// 1 where there is no such thing.
int Explain(const Kubectl& kubectl, const ExplainOptions& options);

// Of each of `pods`: where it is, on which GPUs beside whom, what was said of it last, and what its gang
// needs and gained. `events`: of the namespace, of events.k8s.io. `gpu_nodes` may be null where it cannot be
// seen. Pure.
nlohmann::json ExplainPods(const nlohmann::json& pods, const nlohmann::json& events,
                           const nlohmann::json& gpu_nodes);
std::string ExplanationText(const nlohmann::json& explanation);

// Of `pods` those of the gang that people call so, with or without their namespace: as nodes say, else by its
// annotation, else by who made them, in their labels (kube::JobNamedBy) or as their owner.
nlohmann::json PodsOfGang(const nlohmann::json& pods, const nlohmann::json& gpu_nodes,
                          const std::string& gang);

}  // namespace crossover::cli
