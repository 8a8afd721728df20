// libs: crossover::cluster
// Parses objects as an API server may send them, keeps them, and asks whether they fit each other.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "extender/cluster/fit.h"
#include "extender/cluster/parse_budget.h"
#include "extender/cluster/relations.h"
#include "extender/cluster/resources.h"

using namespace crossover::extender;  // NOLINT(google-build-using-namespace)

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

bool NoneIsNegative(const Resources& resources) {
  for (const auto& [name, amount] : resources.others) {
    if (amount < 0) return false;
  }
  return resources.milli_cpu >= 0 && resources.memory_bytes >= 0;
}

// Checks that what a pod demands of others is within its limits, and that two pods judge each other alike.
void TryConstraints(const Pod& pod, const ClusterCache& cache) {
  for (const auto& port : pod.constraints.ports) Require(port.port > 0 && port.port <= 65535);
  for (const auto& spread : pod.constraints.spread) Require(spread.max_skew > 0 && spread.min_domains > 0);
  for (const auto& [uid, other] : cache.pods()) {
    Require((ClashOf(pod, other) == nullptr) == (ClashOf(other, pod) == nullptr));
    for (const auto& [name, node] : cache.nodes())
      Require((ApartOn(&node, pod, other) == nullptr) == (ApartOn(&node, other, pod) == nullptr));
  }
}

void TryPod(const Pod& pod, ClusterCache* cache) {
  Require(!pod.uid.empty() && !pod.name_space.empty() && !pod.name.empty());
  Require(pod.slots() >= 0 && NoneIsNegative(pod.requests));
  Require(pod.scheduled.message.size() <= crossover::api::kLongestMessage);
  Require(cache->Put(pod) && !cache->Put(pod));
  Require(NoneIsNegative(cache->UsedOn(pod.node)));
  for (const auto& [name, node] : cache->nodes()) {
    const auto fit = FitOn(*cache, name, pod, {});
    Require(fit.pods >= 0 && (fit.pods == 0) == !fit.why.empty());
    Require(fit.pods <= fit.ever);
    // When `fit.pods` of the pod are planned already, one more does not fit.
    Resources planned;
    if (fit.pods > 64) continue;
    for (int i = 0; i < fit.pods; ++i) AddPod(pod, &planned);
    Require(FitOn(*cache, name, pod, planned).pods == 0);
  }
  TryConstraints(pod, *cache);
  Require(cache->RemovePod(pod.uid));
  Require(cache->UsedOn(pod.node) == Resources{});
}

}  // namespace

// The fuzzer tries any object as each kind. An input may also be a list, of a pod and a node.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  nlohmann::json objects = object;
  if (!object.is_array()) objects = nlohmann::json::array({object});
  ClusterCache cache;
  for (const nlohmann::json& each : objects) {
    if (auto node = crossover::api::ParseNode(each)) cache.Put(*std::move(node));
    if (auto node = crossover::api::ParseGpuNode(each)) {
      Require(NoneIsNegative(node->requested));
      cache.Put(*std::move(node));
    }
    if (auto budget = ParseBudget(each)) {
      Require(budget->allowed >= 0);
      if (budget->selector.nothing) Require(!crossover::kube::Matches(budget->selector, {}));
      Require(cache.Put(*std::move(budget)));
    }
    if (auto profile = crossover::api::ParseJobProfile(each)) {
      cache.Put(*profile);
      Require(cache.FindProfile(profile->name_space, profile->key) != nullptr);
    }
  }
  for (const nlohmann::json& each : objects) {
    if (const auto pod = crossover::api::ParsePod(each)) TryPod(*pod, &cache);
  }
  return 0;
}
