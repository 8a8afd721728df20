#include "cli/cluster/nodes.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <thread>

#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

constexpr char kContainer[] = "deviceplugin";
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
  json entry = {{"node", NodeOf(pod)}};
  std::string error;
  const auto text =
      kubectl.Exec(NamespaceOf(pod), NameOf(pod), kContainer, {"crossover", "top", "-o", "json"}, &error);
  json top = text ? json::parse(*text, nullptr, false) : json();
  if (top.is_object()) {
    entry["top"] = std::move(top);
  } else {
    entry["error"] = text ? "its answer is no JSON" : error;
  }
  return entry;
}

}  // namespace

int ClusterTop(const Kubectl& kubectl, const ClusterTopOptions& options) {
  const bool people = options.format == Format::kText || options.format == Format::kWide;
  const bool clear = options.watch_s && people && isatty(STDOUT_FILENO) != 0;
  for (;;) {
    std::string error;
    const auto daemons = Daemons(kubectl, options.node, &error);
    if (!daemons) return Fail("top", error);
    std::vector<std::future<json>> asked;
    for (const json& pod : *daemons)
      asked.push_back(std::async(std::launch::async, [&kubectl, &pod] { return AskNode(kubectl, pod); }));
    json nodes = json::array();
    bool any = false;
    for (auto& answer : asked) {
      nodes.push_back(answer.get());
      any |= nodes.back().contains("top");
    }
    const std::string table = people ? ClusterTopTable(nodes, options.format == Format::kWide) : "";
    if (!Print((clear ? kClearScreen : "") + Shown({{"nodes", nodes}}, table, options.format))) return 1;
    if (!options.watch_s) return any ? 0 : 1;
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
