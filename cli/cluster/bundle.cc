#include "cli/cluster/bundle.h"

#include <nlohmann/json.hpp>
#include <string>

#include "cli/cluster/daemons.h"
#include "cli/cluster/kubectl.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

// A Program is a container of ours and the component in whose pods it runs. If the two names differ, file
// names have both.
struct Program {
  const char* component;
  const char* container;
};
constexpr Program kPrograms[] = {{kDaemonContainer, kDaemonContainer},
                                 {"extender", "extender"},
                                 {"extender", "scheduler"},
                                 {"mps", "mps"}};

bool HasRestarted(const json& pod, const std::string& container) {
  for (const json& status : ListAt(pod, {"status", "containerStatuses"})) {
    if (TextAt(status, {"name"}) == container) return CountAt(status, {}, "restartCount") > 0;
  }
  return false;
}

std::vector<std::string> LogWords(const json& pod, const std::string& container) {
  return {"logs", "--namespace", NamespaceOf(pod), NameOf(pod), "--container", container, "--tail", "2000"};
}

}  // namespace

std::vector<json> QuestionsOf(const ClusterFacts& facts) {
  std::vector<json> questions;
  // A pod name is unique only with its namespace. No pod name contains an underscore, but it may contain a
  // dot.
  const auto ask = [&questions](const json& pod, const std::string& ending, std::vector<std::string> words) {
    const std::string file = NamespaceOf(pod) + "." + NameOf(pod) + ending;
    questions.push_back({{"file", file}, {"words", std::move(words)}});
  };
  for (const auto& [component, container] : kPrograms) {
    const std::string ending = std::string(component) == container ? "" : std::string("_") + container;
    for (const json* pod : Programs(facts, component)) {
      std::vector<std::string> words = LogWords(*pod, container);
      ask(*pod, ending + ".log", words);
      if (!HasRestarted(*pod, container)) continue;
      words.emplace_back("--previous");
      ask(*pod, ending + "_previous.log", words);
    }
  }
  for (const char* command : {"top", "doctor"}) {
    for (const json* pod : Programs(facts, kDaemonContainer))
      ask(*pod, std::string(".") + command + ".json",
          ExecWords(NamespaceOf(*pod), NameOf(*pod), kDaemonContainer, {"crossover", command, "-o", "json"}));
  }
  return questions;
}

}  // namespace crossover::cli
