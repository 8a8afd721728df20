#include "cli/cluster/explain.h"

#include <cstdio>

#include "cli/cluster/objects.h"

namespace crossover::cli {

int Explain(const Kubectl& kubectl, const ExplainOptions& options) {
  std::string error;
  const auto in_namespace = [&options](std::vector<std::string> words) {
    if (!options.name_space.empty()) words.insert(words.end(), {"--namespace", options.name_space});
    return words;
  };
  const auto fail = [&error] {
    std::fprintf(stderr, "crossover explain: %s\n", error.c_str());
    return 1;
  };
  const bool one = options.kind == "pod";
  auto pods = kubectl.List(
      in_namespace(one ? std::vector<std::string>{"pods", "--field-selector", "metadata.name=" + options.name}
                       : std::vector<std::string>{"pods"}),
      &error);
  if (!pods) return fail();
  const auto events = kubectl.List(in_namespace({"events.events.k8s.io"}), &error);
  if (!events) return fail();
  std::string unseen;  // users may not see nodes: then their pods and events have to do
  const json gpu_nodes = kubectl.List({"gpunodes.crossover.dev"}, &unseen).value_or(json::array());
  if (!one) *pods = PodsOfGang(*pods, gpu_nodes, options.name);
  if (pods->empty()) {
    error = "there is no " + options.kind + " " + options.name + (one ? "" : ", or it has no pods") +
            " in the namespace";
    return fail();
  }
  const json explanation = ExplainPods(*pods, *events, gpu_nodes);
  if (!Print(Shown(explanation, ExplanationText(explanation), options.format))) return 1;
  if (!unseen.empty()) std::fprintf(stderr, "GPUs and figures are left out: %s\n", unseen.c_str());
  return 0;
}

}  // namespace crossover::cli
