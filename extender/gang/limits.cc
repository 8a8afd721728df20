#include "extender/gang/limits.h"

#include <algorithm>
#include <map>

#include "common/base/refusal.h"
#include "extender/cluster/relations.h"
#include "extender/cluster/taints.h"

namespace crossover::extender {
namespace {

using Pods = std::vector<const Pod*>;

std::string Over(const char* field, const std::string& topology) {
  return std::string(field) + " over " + base::Shown(topology);
}

std::string WhyUnlabelled(const std::string& topology, const char* field) {
  return "the node lacks the label " + base::Shown(topology) + " of the pod's " + field;
}

bool MatchesAll(const std::vector<kube::PodTerm>& terms, const std::string& name_space, const Pod& pod) {
  return !terms.empty() && std::ranges::all_of(terms, [&](const kube::PodTerm& term) {
    return Selects(term, name_space, pod);
  });
}

// A Reader works out the Limits of one gang.
class Reader {
 public:
  // REQUIRES: `pods` are pods of one gang without a fault (FaultyDemands), at least one.
  Reader(const ClusterCache& cache, const placement::State& state, const Residents& residents,
         const Pods& pods)
      : cache_(cache), state_(state), residents_(residents), pods_(pods), first_(*pods.front()) {
    for (const placement::Node& node : state.nodes) nodes_.push_back(cache.FindNode(node.name));
    limits_.nodes.resize(nodes_.size());
    for (const Pod* pod : pods) {
      const auto alike = [pod](const Pod* other) { return other->constraints == pod->constraints; };
      if (std::ranges::none_of(kinds_, alike)) kinds_.push_back(pod);
    }
  }

  Limits Read() {
    ReadPorts();
    for (const Pod* kind : kinds_) {
      for (const kube::PodTerm& term : kind->constraints.apart) ReadApart(*kind, term);
    }
    for (const Residents::Aloof& aloof : residents_.aloof()) ReadAloof(aloof);
    if (!first_.constraints.near.empty()) ReadNear();
    for (const kube::Spread& spread : first_.constraints.spread) ReadSpread(spread);
    return std::move(limits_);
  }

 private:
  void KeepToOne(std::size_t node, const std::string& why) {
    NodeLimit& limit = limits_.nodes[node];
    if (limit.one) return;
    limit.one = true;
    limit.why = "two of its pods may not be there together: " + why;
  }

  void Never(std::size_t node, std::string why) {
    limits_.nodes[node].never = true;
    limits_.nodes[node].why = std::move(why);
  }

  void ReadPorts() {
    for (const Pod* kind : kinds_) {
      const Pod* clashes = nullptr;
      for (const Pod* pod : pods_) {
        if (pod != kind && ClashOf(*kind, *pod) != nullptr) clashes = pod;
      }
      if (clashes == nullptr) continue;
      const std::string why = "host port " + std::to_string(ClashOf(*kind, *clashes)->port);
      for (std::size_t n = 0; n < nodes_.size(); ++n) KeepToOne(n, why);
    }
    for (const Resident& resident : residents_.with_ports()) {
      for (const Pod* kind : kinds_) {
        const kube::HostPort* port = ClashOf(*kind, *resident.pod);
        if (port == nullptr) continue;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
          if (state_.nodes[n].name != resident.node) continue;
          limits_.nodes[n].bars.push_back({.why = "a pod there has a host port that the pod asks for",
                                           .figures = std::to_string(port->port),
                                           .by = {{resident.gang, resident.node}}});
        }
        break;
      }
    }
  }

  using ByValue = std::map<std::string, std::set<std::pair<std::string, std::string>>>;

  // Closes the domains of these values of the label `topology`.
  void Close(const std::string& topology, const ByValue& values, const std::string& why) {
    if (values.empty()) return;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const std::string* value = LabelOf(nodes_[n], topology);
      const auto found = value == nullptr ? values.end() : values.find(*value);
      if (found == values.end()) continue;
      limits_.nodes[n].bars.push_back({.why = why, .figures = {}, .by = found->second});
    }
  }

  void Add(const Resident& resident, const std::string& topology, ByValue* to) const {
    const std::string* value = LabelOf(cache_.FindNode(resident.node), topology);
    if (value != nullptr) (*to)[*value].emplace(resident.gang, resident.node);
  }

  // If a term selects some pod of the gang besides its own, no two pods of the gang come into one domain.
  // This keeps more pods apart than the term asks for if it selects only some of them.
  void ReadApart(const Pod& kind, const kube::PodTerm& term) {
    const std::string over = Over(kApartField, term.topology);
    const bool own = std::ranges::any_of(
        pods_, [&](const Pod* pod) { return pod != &kind && Selects(term, kind.name_space, *pod); });
    if (own) {
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        if (LabelOf(nodes_[n], term.topology) != nullptr) KeepToOne(n, over);
      }
      AddDivision(term.topology, {.what = over, .of = {}, .there = {}, .most = 1});
    }
    ByValue taken;
    for (const auto& [name_space, residents] : residents_.by_namespace()) {
      if (!LooksAt(term, kind.name_space, name_space)) continue;
      for (const Resident& resident : residents) {
        if (kube::Matches(term.selector, resident.pod->labels)) Add(resident, term.topology, &taken);
      }
    }
    Close(term.topology, taken, over + " keeps the pod from pods there");
  }

  void ReadAloof(const Residents::Aloof& aloof) {
    for (const kube::PodTerm& term : aloof.pod->constraints.apart) {
      const auto selected = [&](const Pod* pod) { return Selects(term, aloof.pod->name_space, *pod); };
      if (std::ranges::none_of(pods_, selected)) continue;
      ByValue taken;
      for (const Resident& resident : aloof.residents) Add(resident, term.topology, &taken);
      Close(term.topology, taken, Over(kApartField, term.topology) + " of pods there keeps the pod away");
    }
  }

  // Adds a division of all nodes by a label, unless each domain has one node: then a limit of each node does.
  void AddDivision(const std::string& topology, placement::Division division) {
    std::map<std::string, int> domains;
    for (const Node* node : nodes_) {
      const std::string* value = LabelOf(node, topology);
      division.of.push_back(
          value == nullptr ? -1
                           : domains.try_emplace(*value, static_cast<int>(domains.size())).first->second);
    }
    division.there.resize(domains.size());
    const auto limited = std::ranges::count_if(division.of, [](int domain) { return domain >= 0; });
    if (division.together || static_cast<std::size_t>(limited) > domains.size())
      limits_.divisions.push_back(std::move(division));
  }

  // The first pod with an affinity that only pods like itself could meet may be anywhere. The others have to
  // follow it.
  void ReadNear() {
    const std::vector<kube::PodTerm>& terms = first_.constraints.near;
    std::vector<ByValue> values(terms.size());
    bool any = false;
    for (const auto& [name_space, residents] : residents_.by_namespace()) {
      for (const Resident& resident : residents) {
        if (!MatchesAll(terms, first_.name_space, *resident.pod)) continue;
        for (std::size_t t = 0; t < terms.size(); ++t) {
          Add(resident, terms[t].topology, &values[t]);
          any |= LabelOf(cache_.FindNode(resident.node), terms[t].topology) != nullptr;
        }
      }
    }
    const bool own = MatchesAll(terms, first_.name_space, first_);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const std::string over = Over(kNearField, terms[t].topology);
      if (!any && own)
        AddDivision(terms[t].topology, {.what = over, .of = {}, .there = {}, .together = true});
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        const std::string* value = LabelOf(nodes_[n], terms[t].topology);
        if (value == nullptr) {
          Never(n, WhyUnlabelled(terms[t].topology, kNearField));
        } else if (any && !values[t].contains(*value)) {
          limits_.nodes[n].bars.push_back(
              {.why = over + " asks for pods that are not there", .figures = {}, .by = {}});
        }
      }
    }
  }

  bool IsEligible(const kube::Spread& spread, const Node& node) const {
    const auto has = [&node](const kube::Spread& one) { return LabelOf(&node, one.topology) != nullptr; };
    if (!std::ranges::all_of(first_.constraints.spread, has)) return false;
    if (spread.heeds_selection && !kube::WhyNotSelected(first_.selection, node.name, node.labels).empty())
      return false;
    return !spread.heeds_taints || std::ranges::all_of(node.taints, [this](const Taint& taint) {
      return taint.effect == "PreferNoSchedule" ||
             std::ranges::any_of(first_.tolerations,
                                 [&](const Toleration& one) { return Tolerates(one, taint); });
    });
  }

  void ReadSpread(const kube::Spread& spread) {
    std::map<std::string, int> domains;
    std::map<std::string, int> domain_of_node;
    for (const auto& [name, node] : cache_.nodes()) {
      if (!IsEligible(spread, node)) continue;
      const auto next = static_cast<int>(domains.size());
      domain_of_node[name] = domains.try_emplace(node.labels.at(spread.topology), next).first->second;
    }
    placement::Division division;
    division.what = Over(kSpreadField, spread.topology) + " with maxSkew " + std::to_string(spread.max_skew);
    division.there.resize(domains.size());
    const auto in_space = residents_.by_namespace().find(first_.name_space);
    if (in_space != residents_.by_namespace().end()) {
      for (const Resident& resident : in_space->second) {
        const auto found = domain_of_node.find(resident.node);
        const Pod& pod = *resident.pod;
        if (found != domain_of_node.end() && !pod.deleting && kube::Matches(spread.selector, pod.labels))
          ++division.there[static_cast<std::size_t>(found->second)];
      }
    }
    division.from_none = static_cast<int>(domains.size()) < spread.min_domains;
    division.skew = spread.max_skew;
    const bool own = kube::Matches(spread.selector, first_.labels);
    const int fewest =
        division.from_none || division.there.empty() ? 0 : *std::ranges::min_element(division.there);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const auto found = domain_of_node.find(state_.nodes[n].name);
      division.of.push_back(found == domain_of_node.end() ? -1 : found->second);
      if (LabelOf(nodes_[n], spread.topology) == nullptr) {
        Never(n, WhyUnlabelled(spread.topology, kSpreadField));
      } else if (!own && found != domain_of_node.end() &&
                 division.there[static_cast<std::size_t>(found->second)] - fewest > spread.max_skew) {
        limits_.nodes[n].bars.push_back(
            {.why = division.what + " does not let pods there", .figures = {}, .by = {}});
      }
    }
    if (own) limits_.divisions.push_back(std::move(division));
  }

  const ClusterCache& cache_;
  const placement::State& state_;
  const Residents& residents_;
  const Pods& pods_;
  const Pod& first_;
  std::vector<const Node*> nodes_;  // by index in State::nodes; null: not known
  Pods kinds_;                      // one pod for each set of constraints
  Limits limits_;
};

}  // namespace

Limits LimitsOf(const ClusterCache& cache, const placement::State& state, const Residents& residents,
                const std::vector<const Pod*>& pods) {
  return Reader(cache, state, residents, pods).Read();
}

}  // namespace crossover::extender
