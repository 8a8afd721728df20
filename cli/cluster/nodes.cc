#include "cli/cluster/nodes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/cluster/daemons.h"
#include "cli/cluster/fan_out.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

json AskNode(const Kubectl& kubectl, const json& pod) {
  std::string error;
  auto top = AskDaemon(kubectl, pod, {"crossover", "top", "-o", "json"}, &error);
  if (!top) return {{"error", error}};
  return {{"top", std::move(*top)}};
}

// Asks the daemons. Returns nothing, with the reason in `error`, if there is no daemon.
std::optional<json> AskNodes(const Kubectl& kubectl, const std::string& node, std::string* error) {
  const auto daemons = Daemons(kubectl, node, error);
  if (!daemons) return std::nullopt;
  const std::vector<json> answers =
      FanOut(*daemons, kKubectls, [&kubectl](const json& pod) { return AskNode(kubectl, pod); });
  json nodes = json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    nodes.push_back(answers[i]);
    nodes.back()["node"] = NodeOf((*daemons)[i]);
  }
  return nodes;
}

bool AnyAnswers(const json& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const json& entry) { return entry.contains("top"); });
}

}  // namespace

int ClusterTop(const Kubectl& kubectl, const ClusterTopOptions& options) {
  return ShowRounds("top", options.show, [&](std::string* error) -> std::optional<Answer> {
    const auto nodes = AskNodes(kubectl, options.node, error);
    if (!nodes) return std::nullopt;
    return Answer{.value = {{"nodes", *nodes}},
                  .text = ClusterTopTable(*nodes, options.show.format == Format::kWide),
                  .note = "",
                  .code = AnyAnswers(*nodes) ? 0 : 1};
  });
}

}  // namespace crossover::cli
