#include "extender/gang/demands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/refusal.h"
#include "extender/cluster/relations.h"
#include "extender/gang/limits.h"
#include "extender/gang/planner.h"

namespace crossover::extender {
namespace {

using Pods = std::vector<const Pod*>;

Pods WaitingPods(const GangStore& store, const std::string& gang) {
  Pods pods;
  const auto found = store.gangs.find(gang);
  if (found == store.gangs.end()) return pods;
  for (const std::string& uid : Seatless(store, found->second)) pods.push_back(store.cache->FindPod(uid));
  return pods;
}

// Returns whether some pod of the ClusterCache has constraints, so that gangs may have limits.
bool AnyDemand(const ClusterCache& cache) {
  return std::ranges::any_of(
      cache.pods(), [](const auto& entry) { return entry.second.constraints.any() && !entry.second.over; });
}

std::string Of(const char* field, const Pod& pod) { return std::string(field) + " of pod " + pod.name; }

// Returns the first pod for which `is` differs from what it is for the first one, or null if none does.
template <class Is>
const Pod* Other(std::span<const Pod* const> pods, Is is) {
  const auto differs = [&](const Pod* pod) { return is(*pod) != is(*pods.front()); };
  const auto found = std::ranges::find_if(pods, differs);
  return found == pods.end() ? nullptr : *found;
}

DemandRefusal Unlike(DemandFault fault, const char* field, const Pod& first, const Pod& other) {
  return {fault, base::Refusal(Of(field, other), "the same as that of " + first.name + " of the same gang",
                               "another one")};
}

DemandRefusal Part(DemandFault fault, const char* field, const Pod& first, const Pod& other) {
  return {fault, base::Refusal(Of(field, first),
                               "a labelSelector that selects all pods of the gang, or none of them",
                               "one that tells " + first.name + " and " + other.name + " apart")};
}

DemandRefusal ByNamespaceLabels(const Pod& pod) {
  for (const auto& [field, terms] :
       {std::pair{kNearField, &pod.constraints.near}, std::pair{kApartField, &pod.constraints.apart}}) {
    for (const kube::PodTerm& term : *terms) {
      if (term.others != kube::PodTerm::Namespaces::kByLabel) continue;
      return {DemandFault::kNamespaceLabels,
              base::Refusal(Of(field, pod), "namespaces, or a namespaceSelector without labels",
                            "a namespaceSelector with labels over " + base::Shown(term.topology))};
    }
  }
  return {};
}

DemandRefusal FaultyNear(std::span<const Pod* const> pods) {
  const Pod& first = *pods.front();
  const std::vector<kube::PodTerm>& terms = first.constraints.near;
  if (const Pod* other = Other(
          pods, [](const Pod& pod) -> const auto& { return pod.constraints.near; }))
    return Unlike(DemandFault::kUnlikeAffinity, kNearField, first, *other);
  const auto meets = [&](const Pod& pod) {
    return std::ranges::all_of(terms, [&](const auto& term) { return Selects(term, first.name_space, pod); });
  };
  const Pod* other = Other(pods, meets);
  return other == nullptr ? DemandRefusal{} : Part(DemandFault::kPartAffinity, kNearField, first, *other);
}

DemandRefusal FaultySpread(std::span<const Pod* const> pods) {
  const Pod& first = *pods.front();
  if (const Pod* other = Other(
          pods, [](const Pod& pod) -> const auto& { return pod.constraints.spread; }))
    return Unlike(DemandFault::kUnlikeSpread, kSpreadField, first, *other);
  if (first.constraints.spread.empty()) return {};
  if (const Pod* other = Other(
          pods, [](const Pod& pod) -> const auto& { return pod.selection; }))
    return Unlike(DemandFault::kUnlikeSpread, "spec.nodeSelector and nodeAffinity, beside a topology spread,",
                  first, *other);
  for (const kube::Spread& spread : first.constraints.spread) {
    const auto counted = [&](const Pod& pod) { return kube::Matches(spread.selector, pod.labels); };
    if (const Pod* other = Other(pods, counted))
      return Part(DemandFault::kPartSpread, kSpreadField, first, *other);
  }
  return {};
}

// Returns whether all pods that the bar is for leave by what is planned for the node, if they all are.
bool Leave(const Bar& bar, const std::string& node, std::span<const placement::Planned> planned) {
  return !bar.by.empty() && std::ranges::all_of(bar.by, [&](const auto& gang_on) {
    return gang_on.second == node && std::ranges::any_of(planned, [&](const placement::Planned& change) {
             return change.pods < 0 && change.gang->id == gang_on.first;
           });
  });
}

void Close(std::string why, std::string figures, placement::Fit* fit) {
  if (fit->pods == 0) return;  // another limit leaves no room already, and its words stay
  fit->pods = 0;
  fit->why = std::move(why);
  fit->figures = std::move(figures);
}

// Holds what a decision knows of demands. It works each gang out when it is first asked about.
class Demands {
 public:
  Demands(const GangStore& store, const placement::State& state) : store_(store), state_(state) {
    if (AnyDemand(*store.cache)) residents_.emplace(store);
  }

  // Returns whether any pod has constraints.
  bool any() const { return residents_.has_value(); }

  // Lowers `fit` to what demands leave of the node with this index.
  void Limit(const placement::Gang& gang, int index, std::span<const placement::Planned> planned,
             placement::Fit* fit) {
    const Known& known = Of(gang.id);
    if (known.pods.empty() || fit->never()) return;
    const NodeLimit& limit = known.limits.nodes[static_cast<std::size_t>(index)];
    if (limit.never) {
      *fit = {.pods = 0, .ever = 0, .why = limit.why};
      return;
    }
    const std::string& node = state_.nodes[static_cast<std::size_t>(index)].name;
    for (const Bar& bar : limit.bars) {
      if (!Leave(bar, node, planned)) Close(bar.why, bar.figures, fit);
    }
    for (const placement::Planned& change : planned) {
      if (change.pods > 0 && MayNotMeet(*known.pods.front(), Of(change.gang->id).pods, node))
        Close("a host port or an anti-affinity keeps the pod from those of a job that is placed there now",
              "", fit);
    }
    if (!limit.one) return;
    fit->ever = std::min(fit->ever, 1);
    if (fit->pods <= 1) return;
    fit->pods = 1;
    if (gang.pods > 1) fit->why = limit.why, fit->figures.clear();
  }

  const std::vector<placement::Division>& DivisionsOf(const std::string& gang) {
    return Of(gang).limits.divisions;
  }

 private:
  struct Known {
    Pods pods;  // pods that have no place
    Limits limits;
  };

  const Known& Of(const std::string& gang) {
    const auto [entry, added] = known_.try_emplace(gang);
    Known& known = entry->second;
    if (!added) return known;
    known.pods = WaitingPods(store_, gang);
    if (!known.pods.empty()) known.limits = LimitsOf(*store_.cache, state_, *residents_, known.pods);
    return known;
  }

  bool MayNotMeet(const Pod& pod, const Pods& others, const std::string& node) const {
    if (others.empty()) return false;
    const Pod& other = *others.front();
    return ClashOf(pod, other) != nullptr || ApartOn(store_.cache->FindNode(node), pod, other) != nullptr;
  }

  const GangStore& store_;
  const placement::State& state_;
  std::optional<Residents> residents_;
  std::map<std::string, Known> known_;  // by gang
};

}  // namespace

DemandRefusal FaultyDemands(std::span<const Pod* const> pods) {
  for (const Pod* pod : pods) {
    if (DemandRefusal refusal = ByNamespaceLabels(*pod); refusal.fault != DemandFault::kNone) return refusal;
  }
  DemandRefusal refusal = FaultyNear(pods);
  return refusal.fault != DemandFault::kNone ? refusal : FaultySpread(pods);
}

void SetDivisions(const GangStore& store, const placement::State& state, std::span<placement::Gang> waiting) {
  Demands demands(store, state);
  if (!demands.any()) return;
  for (placement::Gang& gang : waiting) gang.divisions = demands.DivisionsOf(gang.id);
}

placement::Fitness LimitedByDemands(const GangStore& store, const placement::State& state,
                                    placement::Fitness fitness) {
  const auto demands = std::make_shared<Demands>(store, state);
  if (!demands->any()) return fitness;
  return
      [demands, fitness = std::move(fitness)](const placement::Gang& gang, int index,
                                              std::span<const placement::Planned> planned) -> placement::Fit {
        placement::Fit fit = fitness(gang, index, planned);
        demands->Limit(gang, index, planned, &fit);
        return fit;
      };
}

}  // namespace crossover::extender
