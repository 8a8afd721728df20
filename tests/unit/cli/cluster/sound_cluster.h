// Makes a cluster in which nothing is wrong, as the API server has it: two nodes with a GPU each, and two
// jobs that share the first GPU.
#pragma once

#include "cli/cluster/facts.h"

namespace crossover::cli {

inline constexpr double kNow = 1'800'000'000;  // 2027-01-15T08:00:00Z

inline nlohmann::json Program(const char* component, const char* name, const char* node) {
  return {
      {"metadata",
       {{"name", name},
        {"namespace", "crossover-system"},
        {"labels", {{"app.kubernetes.io/name", "crossover"}, {"app.kubernetes.io/component", component}}}}},
      {"spec",
       {{"nodeName", node},
        {"hostPID", component == std::string("deviceplugin")},
        {"containers",
         {{{"name", component}, {"image", std::string("r.example:5000/") + component + ":0.1.0"}}}}}},
      {"status", {{"phase", "Running"}, {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

inline nlohmann::json Node(const char* name) {
  return {{"metadata", {{"name", name}, {"labels", {{"nvidia.com/gpu.present", "true"}}}}},
          {"status", {{"allocatable", {{"crossover.dev/slot", "2"}, {"nvidia.com/gpu", "0"}}}}}};
}

// Returns the DaemonSet as the chart makes it. It selects nodes with GPUs, by the labels that tell of them.
inline nlohmann::json DaemonSet() {
  return nlohmann::json::parse(
      R"({"metadata": {"name": "crossover-deviceplugin", "namespace": "crossover-system"},
      "spec": {"template": {"spec": {"hostPID": true, "affinity": {"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}]},
      {"matchExpressions": [
        {"key": "feature.node.kubernetes.io/pci-10de.present", "operator": "In", "values": ["true"]}]},
      {"matchExpressions": [{"key": "cloud.google.com/gke-accelerator", "operator": "Exists"}]}]}}}}}}})");
}

inline nlohmann::json HolderOf(const char* pod, const char* gang, const char* slot) {
  return {{"namespace", "team"}, {"pod", pod}, {"container", "main"}, {"gang", gang}, {"slots", {slot}}};
}

inline nlohmann::json GpuNode(const char* name, const char* uuid) {
  return {{"metadata", {{"name", name}}},
          {"status",
           {{"version", "0.1.0"},
            {"mode", "enforce"},
            {"maintenance", false},
            {"slots", 2},
            {"sharing", {{"kind", "mps"}, {"reason", ""}, {"multiUser", false}}},
            {"gpus",
             {{{"uuid", uuid}, {"slots", 2}, {"healthy", true}, {"holders", nlohmann::json::array()}}}}}}};
}

inline nlohmann::json Pod(const char* name, const char* node) {
  return {{"metadata",
           {{"name", name},
            {"namespace", "team"},
            {"uid", std::string("uid-of-") + name},
            {"creationTimestamp", "2027-01-15T07:58:00Z"},
            {"labels", {{"crossover.dev/managed", "true"}}},
            {"annotations",
             {{"crossover.dev/share", "true"},
              {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"},
              {"karpenter.sh/do-not-disrupt", "true"},
              {"descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"},
              {"crossover.dev/assignment", R"({"containers": {"main": ["GPU-1"]}})"}}}}},
          {"spec",
           {{"nodeName", node},
            {"securityContext", {{"runAsUser", 1000}}},
            {"containers", {{{"name", "main"}}}}}},
          {"status", {{"phase", "Running"}}}};
}

inline ClusterFacts SoundCluster() {
  using nlohmann::json;
  ClusterFacts facts;
  facts.now_s = kNow;
  auto& lists = facts.lists;
  lists["definitions"] = {{{"metadata", {{"name", "gpunodes.crossover.dev"}}}},
                          {{"metadata", {{"name", "jobprofiles.crossover.dev"}}}}};
  lists["nodes"] = {Node("n1"), Node("n2"), {{"metadata", {{"name", "without-gpus"}}}}};
  lists["gpu_nodes"] = {GpuNode("n1", "GPU-1"), GpuNode("n2", "GPU-2")};
  lists["gpu_nodes"][0]["status"]["gpus"][0]["holders"] = {HolderOf("a-0", "team/a", "GPU-1::0"),
                                                           HolderOf("b-0", "team/b", "GPU-1::1")};
  lists["pods"] = {Pod("a-0", "n1"), Pod("b-0", "n1")};
  lists["programs"] = {Program("deviceplugin", "daemon-1", "n1"),
                       Program("deviceplugin", "daemon-2", "n2"),
                       Program("mps", "mps-1", "n1"),
                       Program("mps", "mps-2", "n2"),
                       Program("extender", "extender-x", "n1"),
                       Program("extender", "extender-y", "n2")};
  lists["daemon_sets"] = json::array({DaemonSet()});
  lists["leases"] = {
      {{"metadata", {{"name", "crossover-scheduler"}, {"namespace", "crossover-system"}}},
       {"spec", {{"holderIdentity", "extender-x_4711"}, {"renewTime", "2027-01-15T07:59:58.123Z"}}}}};
  lists["extender_config"] = nlohmann::json::parse(
      R"([{"metadata": {"name": "crossover-extender", "namespace": "crossover-system"}, "data": {"extender.yaml":
      "gangs:\n  topology:\n  - topology.kubernetes.io/zone\n  - example.com/rack\n"}}])");
  lists["webhooks"] = {
      {{"metadata", {{"name", "crossover-admission"}}},
       {"webhooks", {{{"name", "pods.crossover.dev"}, {"clientConfig", {{"caBundle", "QQ=="}}}}}}}};
  lists["quotas"] = {
      {{"metadata", {{"name", "q"}, {"namespace", "team"}}},
       {"spec", {{"hard", {{"requests.nvidia.com/gpu", "4"}, {"requests.crossover.dev/slot", "8"}}}}}}};
  lists["limit_ranges"] = nlohmann::json::parse(
      R"([{"metadata": {"name": "sizes", "namespace": "team"}, "spec": {"limits": [
      {"type": "Container", "max": {"cpu": "8"}, "default": {"nvidia.com/gpu": "1"}}]}}])");
  lists["resource_flavors"] = nlohmann::json::parse(
      R"([{"metadata": {"name": "gpus"}, "spec": {"nodeLabels": {"nvidia.com/gpu.present": "true"}}},
      {"metadata": {"name": "others"}, "spec": {"nodeLabels": {"nvidia.com/gpu.present": "no"}}}])");
  lists["cluster_queues"] =
      nlohmann::json::parse(R"([{"metadata": {"name": "train"}, "spec": {"resourceGroups": [
      {"coveredResources": ["nvidia.com/gpu", "cpu"], "flavors": [
      {"name": "gpus", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "2"}]},
      {"name": "others", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 0}]}]}]}},
      {"metadata": {"name": "search"}, "spec": {"resourceGroups": [{"flavors": [
      {"name": "gpus", "resources": [{"name": "cpu", "nominalQuota": 9},
      {"name": "nvidia.com/gpu", "nominalQuota": 2}]}]}]}}])");
  lists["autoscaler_status"] = nlohmann::json::parse(
      R"([{"metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}}])");
  lists["node_pools"] = nlohmann::json::parse(R"([{"metadata": {"name": "gpus"}}])");
  lists["descheduler_of_chart"] = nlohmann::json::parse(
      R"([{"metadata": {"name": "descheduler", "namespace": "kube-system"}, "data": {"policy.yaml":
      "kind: DeschedulerPolicy\nprofiles:\n- pluginConfig:\n  - args:\n      noEvictionPolicy: \"Mandatory\"\n"}}])");
  lists["descheduler_of_manifests"] = json::array();
  lists["namespaces"] = {
      {{"metadata", {{"name", "team"}, {"annotations", {{"crossover.dev/mode", "enforce"}}}}}}};
  lists["pod_monitors"] = {
      {{"metadata", {{"name", "crossover-deviceplugin"}, {"namespace", "crossover-system"}}},
       {"spec",
        {{"selector", {{"matchLabels", {{"app.kubernetes.io/name", "crossover"}}}}},
         {"podMetricsEndpoints", {{{"port", "metrics"}, {"honorLabels", true}}}}}}},
      {{"metadata", {{"name", "of-others"}, {"namespace", "team"}}},
       {"spec",
        {{"selector", {{"matchLabels", {{"app.kubernetes.io/name", "web"}}}}},
         {"podMetricsEndpoints", {{{"port", "metrics"}}}}}}}};
  return facts;
}

}  // namespace crossover::cli
