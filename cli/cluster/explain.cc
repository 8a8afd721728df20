#include "cli/cluster/explain.h"

#include <optional>
#include <string_view>

#include "cli/cluster/batch_shares.h"
#include "cli/cluster/objects.h"
#include "cli/cluster/shrink_advice.h"

namespace crossover::cli {
namespace {

std::optional<Answer> Explained(const Kubectl& kubectl, const ExplainOptions& options, std::string* error) {
  const auto in_namespace = [&options](std::vector<std::string> words) {
    if (!options.name_space.empty()) words.insert(words.end(), {"--namespace", options.name_space});
    return words;
  };
  const bool one = options.kind == "pod";
  auto pods = kubectl.List(
      in_namespace(one ? std::vector<std::string>{"pods", "--field-selector", "metadata.name=" + options.name}
                       : std::vector<std::string>{"pods"}),
      error);
  if (!pods) return std::nullopt;
  const auto events = kubectl.List(in_namespace({"events.events.k8s.io"}), error);
  if (!events) return std::nullopt;
  std::string unseen;  // users may lack the right to list nodes; then pods and events must do
  const json gpu_nodes = kubectl.List({"gpunodes.crossover.dev"}, &unseen).value_or(json::array());
  if (!one) *pods = PodsOfGang(*pods, gpu_nodes, options.name);
  if (pods->empty()) {
    *error =
        "there is no " + options.kind + " " + options.name + (one ? "" : ", or it has no pods") + " in " +
        (options.name_space.empty() ? "the namespace of the context" : "namespace " + options.name_space);
    return std::nullopt;
  }
  json explanation = ExplainPods(*pods, *events, gpu_nodes);
  std::string ignored;  // a user who may not list some kind of object is told less
  const auto profiles = kubectl.List(in_namespace({"jobprofiles.crossover.dev"}), &ignored);
  ExplainCommunication(*pods, profiles.value_or(json::array()), &explanation);
  ExplainShares(*pods, gpu_nodes, &explanation);
  ExplainShrink(gpu_nodes, profiles.value_or(json::array()), &explanation);
  ClusterFacts facts;
  facts.lists["gpu_nodes"] = gpu_nodes;
  for (const Sought& sought : kSought) {
    const std::string_view name = sought.name;
    if (name != "nodes" && name != "extender_config") continue;
    facts.lists[sought.name] = kubectl.List(sought.Words(), &ignored).value_or(json::array());
  }
  ExplainDomains(facts, &explanation);
  return Answer{.value = explanation,
                .text = ExplanationText(explanation),
                .note = unseen.empty() ? "" : "GPUs and figures are left out: " + unseen,
                .code = 0};
}

}  // namespace

int Explain(const Kubectl& kubectl, const ExplainOptions& options) {
  return ShowRounds("explain", options.show,
                    [&](std::string* error) { return Explained(kubectl, options, error); });
}

}  // namespace crossover::cli
