// Holds what is known of a cluster: objects as the API server has them. gather.cc fills it, checks.cc
// judges it.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace crossover::cli {

// ClusterFacts are lists of objects and the time.
struct ClusterFacts {
  // `lists` has the lists by their names in kSought. A list that could not be read is missing; `unseen`
  // then has the reason.
  std::map<std::string, nlohmann::json> lists;
  std::map<std::string, std::string> unseen;
  double now_s = 0;  // Unix seconds, by the clocks of the cluster

  // Returns the list, or an empty one if it is missing.
  const nlohmann::json& Items(const std::string& list) const {
    static const nlohmann::json none = nlohmann::json::array();
    const auto found = lists.find(list);
    return found == lists.end() ? none : found->second;
  }
};

// A Sought is a list to read, with its arguments for `kubectl get`.
struct Sought {
  const char* name;
  std::array<const char*, 5> words;  // the rest is null
  bool optional = false;             // a cluster without this kind of object has none of them

  // Returns the words that are not null.
  std::vector<std::string> Words() const {
    return {words.begin(), std::ranges::find(words, static_cast<const char*>(nullptr))};
  }
};
inline constexpr Sought kSought[] = {
    {"definitions", {"customresourcedefinitions"}},
    {"nodes", {"nodes"}},
    {"gpu_nodes", {"gpunodes.crossover.dev"}},
    {"pods", {"pods", "--all-namespaces", "--selector", "crossover.dev/managed=true"}},
    {"programs", {"pods", "--all-namespaces", "--selector", "app.kubernetes.io/name=crossover"}},
    {"daemon_sets",
     {"daemonsets", "--all-namespaces", "--field-selector", "metadata.name=crossover-deviceplugin"}},
    {"leases", {"leases", "--all-namespaces", "--field-selector", "metadata.name=crossover-scheduler"}},
    {"clock", {"leases", "--namespace", "kube-system"}},
    {"webhooks", {"mutatingwebhookconfigurations", "--field-selector", "metadata.name=crossover-admission"}},
    {"extender_config",
     {"configmaps", "--all-namespaces", "--field-selector", "metadata.name=crossover-extender"}},
    {"quotas", {"resourcequotas", "--all-namespaces"}},
    {"limit_ranges", {"limitranges", "--all-namespaces"}},
    {"cluster_queues", {"clusterqueues.kueue.x-k8s.io"}, true},
    {"resource_flavors", {"resourceflavors.kueue.x-k8s.io"}, true},
    {"namespaces", {"namespaces"}},
    {"autoscaler_status",
     {"configmaps", "--namespace", "kube-system", "--field-selector",
      "metadata.name=cluster-autoscaler-status"}},
    {"node_pools", {"nodepools.karpenter.sh"}, true},
    // The policy of a Descheduler, by the label of its chart or by the name in its manifests.
    {"descheduler_of_chart",
     {"configmaps", "--all-namespaces", "--selector", "app.kubernetes.io/name=descheduler"}},
    {"descheduler_of_manifests",
     {"configmaps", "--all-namespaces", "--field-selector", "metadata.name=descheduler-policy-configmap"}},
    {"pod_monitors", {"podmonitors.monitoring.coreos.com", "--all-namespaces"}, true},
};

// Returns whether none of the lists that each cluster has could be read.
inline bool SawNothing(const ClusterFacts& facts) {
  return std::ranges::none_of(
      kSought, [&facts](const Sought& each) { return !each.optional && facts.lists.contains(each.name); });
}

}  // namespace crossover::cli
