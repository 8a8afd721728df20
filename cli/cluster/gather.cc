#include "cli/cluster/gather.h"

#include <chrono>
#include <future>
#include <utility>
#include <vector>

namespace crossover::cli {
namespace {

struct Got {
  std::optional<nlohmann::json> items;
  std::string error;
};

Got Ask(const Kubectl& kubectl, const Sought& sought) {
  Got got;
  std::vector<std::string> words;
  for (const char* word : sought.words) {
    if (word != nullptr) words.emplace_back(word);
  }
  got.items = kubectl.List(std::move(words), &got.error);
  return got;
}

}  // namespace

ClusterFacts Gather(const Kubectl& kubectl) {
  std::vector<std::future<Got>> asked;
  for (const Sought& sought : kSought)
    asked.push_back(std::async(std::launch::async, [&kubectl, &sought] { return Ask(kubectl, sought); }));
  ClusterFacts facts;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Got got = asked[i].get();
    if (got.items) {
      facts.lists[kSought[i].name] = std::move(*got.items);
    } else {
      facts.unseen[kSought[i].name] = got.error;
    }
  }
  facts.now_s = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return facts;
}

}  // namespace crossover::cli
