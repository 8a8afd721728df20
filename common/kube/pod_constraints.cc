#include "common/kube/pod_constraints.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/kube/json.h"

namespace crossover::kube {
namespace {

using nlohmann::json;

constexpr char kAllAddresses[] = "0.0.0.0";
constexpr int kMostPort = 65535;

// Returns the whole number at `key`, limited to `most`, or 0 if there is none above 0.
int CountAt(const json& object, const char* key, int most) {
  const json& value = At(object, key);
  if (!value.is_number_integer()) return 0;
  if (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) return 0;
  return static_cast<int>(std::min<std::uint64_t>(value.get<std::uint64_t>(), static_cast<unsigned>(most)));
}

void AddPorts(const json& container, std::vector<HostPort>* to) {
  for (const json& port : ListAt(container, "ports")) {
    HostPort read{.protocol = Text(At(port, "protocol")),
                  .ip = Text(At(port, "hostIP")),
                  .port = CountAt(port, "hostPort", kMostPort + 1)};
    if (read.port == 0 || read.port > kMostPort) continue;
    if (read.protocol.empty()) read.protocol = "TCP";
    if (read.ip.empty()) read.ip = kAllAddresses;
    if (std::ranges::find(*to, read) == to->end()) to->push_back(std::move(read));
  }
}

// Returns the ports of all containers that run together. The API server sets the port of the host if the pod
// has the network of the host.
std::vector<HostPort> PortsIn(const json& spec) {
  std::vector<HostPort> ports;
  for (const json& container : ListAt(spec, "initContainers")) {
    if (Text(At(container, "restartPolicy")) == "Always") AddPorts(container, &ports);
  }
  for (const json& container : ListAt(spec, "containers")) AddPorts(container, &ports);
  return ports;
}

std::vector<PodTerm> TermsIn(const json& spec, const char* kind) {
  std::vector<PodTerm> terms;
  const json& affinity = At(At(spec, "affinity"), kind);
  for (const json& term : ListAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
    PodTerm read{.topology = Text(At(term, "topologyKey")),
                 .selector = LabelSelectorOf(At(term, "labelSelector")),
                 .namespaces = {}};
    if (read.topology.empty()) continue;
    for (const json& name : ListAt(term, "namespaces")) {
      if (name.is_string()) read.namespaces.push_back(Text(name));
    }
    const json& by_label = At(term, "namespaceSelector");
    if (by_label.is_object()) {
      const LabelSelector selector = LabelSelectorOf(by_label);
      const bool all = !selector.nothing && selector.labels.empty() && selector.expressions.empty();
      read.others = all ? PodTerm::Namespaces::kAll : PodTerm::Namespaces::kByLabel;
    }
    terms.push_back(std::move(read));
  }
  return terms;
}

std::vector<Spread> SpreadIn(const json& spec, const Labels& labels) {
  constexpr int kMost = 1 << 20;
  std::vector<Spread> spread;
  for (const json& constraint : ListAt(spec, "topologySpreadConstraints")) {
    if (Text(At(constraint, "whenUnsatisfiable")) != "DoNotSchedule") continue;
    Spread read{.topology = Text(At(constraint, "topologyKey")),
                .max_skew = CountAt(constraint, "maxSkew", kMost),
                .min_domains = std::max(1, CountAt(constraint, "minDomains", kMost)),
                .selector = LabelSelectorOf(At(constraint, "labelSelector")),
                .heeds_selection = Text(At(constraint, "nodeAffinityPolicy")) != "Ignore",
                .heeds_taints = Text(At(constraint, "nodeTaintsPolicy")) == "Honor"};
    if (read.topology.empty() || read.max_skew == 0) continue;
    for (const json& key : ListAt(constraint, "matchLabelKeys")) {
      const auto label = labels.find(Text(key));
      if (label != labels.end()) read.selector.expressions.push_back({label->first, "In", {label->second}});
    }
    spread.push_back(std::move(read));
  }
  return spread;
}

}  // namespace

bool Clash(const HostPort& a, const HostPort& b) {
  const bool same_address = a.ip == b.ip || a.ip == kAllAddresses || b.ip == kAllAddresses;
  return a.port == b.port && a.protocol == b.protocol && same_address;
}

PodConstraints PodConstraintsOf(const json& spec, const Labels& labels) {
  return {.ports = PortsIn(spec),
          .near = TermsIn(spec, "podAffinity"),
          .apart = TermsIn(spec, "podAntiAffinity"),
          .spread = SpreadIn(spec, labels)};
}

}  // namespace crossover::kube
