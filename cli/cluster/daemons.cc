#include "cli/cluster/daemons.h"

#include <utility>

#include "cli/cluster/objects.h"

namespace crossover::cli {

std::optional<std::vector<json>> Daemons(const Kubectl& kubectl, const std::string& node,
                                         std::string* error) {
  const auto pods =
      kubectl.List({"pods", "--all-namespaces", "--selector",
                    "app.kubernetes.io/name=crossover,app.kubernetes.io/component=deviceplugin"},
                   error);
  if (!pods) return std::nullopt;
  std::vector<json> daemons;
  for (const json& pod : *pods) {
    if (IsDaemon(pod) && !IsOver(pod) && !NodeOf(pod).empty() && (node.empty() || NodeOf(pod) == node))
      daemons.push_back(pod);
  }
  if (!daemons.empty()) return daemons;
  *error = "no node daemon runs" + (node.empty() ? std::string(" in this cluster") : " on node " + node);
  return std::nullopt;
}

std::optional<json> AskDaemon(const Kubectl& kubectl, const json& pod, std::vector<std::string> command,
                              std::string* error) {
  const auto text = kubectl.Exec(NamespaceOf(pod), NameOf(pod), kDaemonContainer, std::move(command), error);
  if (!text) return std::nullopt;
  json said = json::parse(*text, nullptr, false);
  if (said.is_object()) return said;
  *error = "pod " + FullName(pod) + ": expected JSON from the program crossover there, got another answer";
  return std::nullopt;
}

}  // namespace crossover::cli
