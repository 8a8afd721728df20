#include "cli/cluster/bundle.h"

#include <nlohmann/json.hpp>
#include <string>

#include "cli/cluster/daemons.h"
#include "cli/cluster/kubectl.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {

std::vector<json> QuestionsOf(const ClusterFacts& facts) {
  std::vector<json> questions;
  // Only with its namespace is a name one pod's.
  const auto ask = [&questions](const json& pod, const std::string& ending, std::vector<std::string> words) {
    const std::string file = NamespaceOf(pod) + "." + NameOf(pod) + "." + ending;
    questions.push_back({{"file", file}, {"words", std::move(words)}});
  };
  for (const char* component : {kDaemonContainer, "extender", "mps"}) {
    for (const json* pod : Programs(facts, component))
      ask(*pod, "log",
          {"logs", "--namespace", NamespaceOf(*pod), NameOf(*pod), "--container", component, "--tail",
           "2000"});
  }
  for (const char* command : {"top", "doctor"}) {
    for (const json* pod : Programs(facts, kDaemonContainer))
      ask(*pod, std::string(command) + ".json",
          ExecWords(NamespaceOf(*pod), NameOf(*pod), kDaemonContainer, {"crossover", command, "-o", "json"}));
  }
  return questions;
}

}  // namespace crossover::cli
