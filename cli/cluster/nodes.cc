#include "cli/cluster/nodes.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/cluster/ask_each.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

constexpr char kContainer[] = "deviceplugin";
constexpr std::size_t kAtATime = 16;  // kubectl's that run
constexpr char kClearScreen[] = "\033[H\033[2J";

int Fail(const char* command, const std::string& error) {
  std::fprintf(stderr, "crossover %s: %s\n", command, error.c_str());
  return 1;
}

// Pods of daemons, of `node` alone where that is not empty. Nothing, and why, where there is none.
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

json AskNode(const Kubectl& kubectl, const json& pod) {
  std::string error;
  const auto text =
      kubectl.Exec(NamespaceOf(pod), NameOf(pod), kContainer, {"crossover", "top", "-o", "json"}, &error);
  json top = text ? json::parse(*text, nullptr, false) : json();
  if (top.is_object()) return {{"top", std::move(top)}};
  return {{"error", text ? "its answer is no JSON" : error}};
}

// Nothing, and why, where no daemon is found.
std::optional<json> AskNodes(const Kubectl& kubectl, const std::string& node, std::string* error) {
  const auto daemons = Daemons(kubectl, node, error);
  if (!daemons) return std::nullopt;
  const std::vector<json> answers =
      AskEach(*daemons, kAtATime, [&kubectl](const json& pod) { return AskNode(kubectl, pod); });
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
  const bool people = options.format == Format::kText || options.format == Format::kWide;
  const bool clear = options.watch_s && people && isatty(STDOUT_FILENO) != 0;
  for (bool first = true;;) {
    std::string error;
    if (const auto nodes = AskNodes(kubectl, options.node, &error)) {
      const json answer = {{"nodes", *nodes}};
      const std::string table = people ? ClusterTopTable(*nodes, options.format == Format::kWide) : "";
      const std::string shown = options.watch_s ? ShownAgain(answer, table, options.format, first)
                                                : Shown(answer, table, options.format);
      if (!Print((clear ? kClearScreen : "") + shown)) return 1;
      if (!options.watch_s) return AnyAnswers(*nodes) ? 0 : 1;
      first = false;
    } else {
      const int code = Fail("top", error);
      if (!options.watch_s) return code;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(*options.watch_s));
  }
}

int ClusterTimeline(const Kubectl& kubectl, const std::string& node, const std::vector<std::string>& words) {
  std::string error;
  const auto daemons = Daemons(kubectl, node, &error);
  if (!daemons) return Fail("timeline", error);
  std::vector<std::string> command = {"crossover", "timeline"};
  command.insert(command.end(), words.begin(), words.end());
  const json& pod = daemons->front();
  return Fail("timeline", kubectl.BecomeExec(NamespaceOf(pod), NameOf(pod), kContainer, command));
}

}  // namespace crossover::cli
