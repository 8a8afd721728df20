// What is known of a cluster: objects as the API server has them. Gathered by gather.cc, judged by checks.cc.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace crossover::cli {

struct ClusterFacts {
  // Lists by what they are called in kSought. One that could not be had is not there, and why is in `unseen`.
  std::map<std::string, nlohmann::json> lists;
  std::map<std::string, std::string> unseen;
  double now_s = 0;  // since 1970, by the clocks of the cluster

  // Empty for one that is not there.
  const nlohmann::json& Items(const std::string& list) const {
    static const nlohmann::json none = nlohmann::json::array();
    const auto found = lists.find(list);
    return found == lists.end() ? none : found->second;
  }
};

// What is asked for, and the words of `kubectl get` for it.
struct Sought {
  const char* name;
  std::array<const char*, 5> words;  // those that are null are none
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
    {"quotas", {"resourcequotas", "--all-namespaces"}},
    {"namespaces", {"namespaces"}},
    {"pod_monitors", {"podmonitors.monitoring.coreos.com", "--all-namespaces"}},
};

}  // namespace crossover::cli
