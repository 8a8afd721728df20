// Checks what was installed.
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/node_selection.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

constexpr double kFreshS = 60;  // schedulers renew every few seconds

// Returns whether the node has a label that the chart's DaemonSet selects by default.
bool IsLabelled(const json& node) {
  return LabelOf(node, "nvidia.com/gpu.present") == "true" ||
         LabelOf(node, "feature.node.kubernetes.io/pci-10de.present") == "true" ||
         !LabelOf(node, "cloud.google.com/gke-accelerator").empty();
}

bool HasGpus(const json& node) {
  for (const char* resource : {"nvidia.com/gpu", base::kSlotResource}) {
    if (CountAt(node, {"status", "allocatable"}, resource) > 0) return true;
  }
  return IsLabelled(node);  // on a node where no daemon has ever run
}

// Returns whether `label` is one that says which images a node can run.
bool IsOfImage(const std::string& label) {
  return label == "kubernetes.io/arch" || label == "kubernetes.io/os";
}

// Returns whether the node is meant for another plugin: no DaemonSet of ours selects it. A node without the
// labels, or one of another architecture, is not left out on purpose. Returns false if there is no
// DaemonSet.
bool IsLeftOut(const ClusterFacts& facts, const json& node) {
  if (!IsLabelled(node)) return false;
  const kube::Labels labels = kube::LabelsAt(kube::At(node, "metadata"), "labels");
  bool any = false;
  for (const json& set : facts.Items("daemon_sets")) {
    const json& pod = kube::At(kube::At(set, "spec"), "template");
    if (!IsDaemon(pod)) continue;
    kube::NodeSelection selection = kube::NodeSelectionOf(kube::At(pod, "spec"));
    std::erase_if(selection.selector, [](const auto& label) { return IsOfImage(label.first); });
    if (kube::WhyNotSelected(selection, NameOf(node), labels).empty()) return false;
    any = true;
  }
  return any;
}

// Returns the nodes that should have a daemon and have none. A node that is left out counts if pods hold
// slots there: then it is left out by mistake.
std::set<std::string> NodesThatLackDaemon(const ClusterFacts& facts) {
  std::set<std::string> served, reported, used, with_pods;
  for (const json* pod : Programs(facts, "deviceplugin")) served.insert(NodeOf(*pod));
  for (const json& pod : facts.Items("pods")) {
    if (!IsOver(pod)) with_pods.insert(NodeOf(pod));
  }
  for (const json& node : facts.Items("gpu_nodes")) {
    const std::string name = NameOf(node);
    reported.insert(name);
    if (CountAt(node, {"status"}, "usedSlots") > 0 && with_pods.contains(name)) used.insert(name);
  }
  std::set<std::string> lacking;
  for (const json& node : facts.Items("nodes")) {
    const std::string name = NameOf(node);
    const bool has_gpus = HasGpus(node) || reported.contains(name);
    const bool is_left_out = !used.contains(name) && IsLeftOut(facts, node);
    if (has_gpus && !served.contains(name) && !is_left_out) lacking.insert(name);
  }
  return lacking;
}

Places NotReady(const ClusterFacts& facts, const char* component) {
  Places places;
  for (const json* pod : Programs(facts, component)) {
    if (IsReady(*pod)) continue;
    const std::string node = NodeOf(*pod);
    places.push_back("pod " + FullName(*pod) +
                     (node.empty() ? ": expected a node, got none"
                                   : " on node " + node + ": expected condition Ready, got not ready"));
  }
  return places;
}

// Returns the namespace and the host name in the identity of a scheduler: HOST_ID, with a random ID.
std::string PodOf(const json& lease) {
  const std::string holder = TextAt(lease, {"spec", "holderIdentity"});
  return NamespaceOf(lease) + "/" + holder.substr(0, holder.find('_'));
}

// Returns the names, with the namespace, that programs in the pod take for their host name: the pod's name.
// In the host's network it is the node's name, or only the first label of what Kubernetes calls the node.
std::set<std::string> HostNamesOf(const json& pod) {
  if (kube::At(kube::At(pod, "spec"), "hostNetwork") != true) return {FullName(pod)};
  const std::string node = NodeOf(pod), space = NamespaceOf(pod) + "/";
  return {space + node, space + node.substr(0, node.find('.'))};
}

std::vector<const json*> FreshLeases(const ClusterFacts& facts) {
  std::vector<const json*> fresh;
  for (const json& lease : facts.Items("leases")) {
    const auto renewed = kube::ParseTimestamp(TextAt(lease, {"spec", "renewTime"}));
    if (renewed && facts.now_s - *renewed < kFreshS && !TextAt(lease, {"spec", "holderIdentity"}).empty())
      fresh.push_back(&lease);
  }
  return fresh;
}

// Returns the three numbers of a version, with or without a v before them, or "" if `text` is not a
// version. An ending that a mirror adds, such as -r1, does not matter.
std::string VersionIn(std::string_view text) {
  constexpr std::string_view endings = "-+_";
  if (text.starts_with('v')) text.remove_prefix(1);
  std::string version;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      if (!text.starts_with('.')) return "";
      text.remove_prefix(1);
      version += '.';
    }
    std::uint32_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc()) return "";
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    version += std::to_string(number);
  }
  const bool ends = text.empty() || endings.find(text.front()) != std::string_view::npos;
  return ends ? version : "";
}

std::string VersionOfImage(const json& pod, const std::string& container) {
  for (const json& item : ListAt(pod, {"spec", "containers"})) {
    const std::string image = TextAt(item, {"image"});
    const std::size_t colon = image.rfind(':');
    if (TextAt(item, {"name"}) == container && colon != std::string::npos &&
        image.find('@') == std::string::npos && image.find('/', colon) == std::string::npos)
      return VersionIn(std::string_view(image).substr(colon + 1));
  }
  return "";  // the image is named by digest or has no version
}

}  // namespace

Places MissingDefinitions(const ClusterFacts& facts) {
  std::set<std::string> missing = {"gpunodes.crossover.dev", "jobprofiles.crossover.dev"};
  for (const json& item : facts.Items("definitions")) missing.erase(NameOf(item));
  Places places;
  for (const std::string& name : missing)
    places.push_back("CustomResourceDefinition " + name + ": expected one, got none");
  return places;
}

Places NodesWithoutDaemon(const ClusterFacts& facts) {
  Places places;
  for (const std::string& name : NodesThatLackDaemon(facts))
    places.push_back("node " + name + ": expected a pod of the node daemon, got none");
  return places;
}

// A GPUNode is not stale if a daemon is only missing: the daemon will need it again.
Places StaleGpuNodes(const ClusterFacts& facts) {
  const std::set<std::string> served = NodesWithDaemon(facts), lacking = NodesThatLackDaemon(facts);
  Places places;
  for (const json& node : facts.Items("gpu_nodes")) {
    const std::string name = NameOf(node);
    if (!served.contains(name) && !lacking.contains(name))
      places.push_back("GPUNode " + name + ": expected a node daemon that keeps it up to date, got none");
  }
  return places;
}

Places DaemonsNotReady(const ClusterFacts& facts) { return NotReady(facts, "deviceplugin"); }
Places MpsNotReady(const ClusterFacts& facts) { return NotReady(facts, "mps"); }

Places ExtendersNotReady(const ClusterFacts& facts) {
  if (Programs(facts, "extender").empty()) return {"extender: expected at least one pod, got none"};
  return NotReady(facts, "extender");
}

Places NoLeader(const ClusterFacts& facts) {
  const auto leases = FreshLeases(facts);
  if (leases.empty())
    return {
        "Lease crossover-scheduler: expected an extender's scheduler that renews it, got no renewal in the "
        "last minute"};
  std::set<std::string> extenders;
  for (const json* pod : Programs(facts, "extender")) extenders.merge(HostNamesOf(*pod));
  Places places;
  for (const json* lease : leases) {
    if (!extenders.contains(PodOf(*lease)))
      places.push_back("Lease " + FullName(*lease) + ": expected a pod of an extender as the holder, got " +
                       PodOf(*lease));
  }
  return places;
}

Places SplitLeadership(const ClusterFacts& facts) {
  const auto leases = FreshLeases(facts);
  if (leases.size() < 2) return {};
  Places places;
  for (const json* lease : leases)
    places.push_back(PodOf(*lease) + " leads by the Lease " + FullName(*lease));
  return places;
}

// Compares the versions that daemons report, and the tags of the extenders' images if these are versions.
Places VersionSkew(const ClusterFacts& facts) {
  std::map<std::string, std::set<std::string>> who;  // by version
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (const std::string version = VersionIn(node.version); !version.empty())
      who[version].insert("the daemon of " + node.name);
  }
  for (const json* pod : Programs(facts, "extender")) {
    if (const std::string version = VersionOfImage(*pod, "extender"); !version.empty())
      who[version].insert(FullName(*pod));
  }
  Places places;
  if (who.size() < 2) return places;
  for (const auto& [version, those] : who) {
    places.push_back("version " + version + ": " + *those.begin() +
                     (those.size() == 1 ? "" : " and " + std::to_string(those.size() - 1) + " more"));
  }
  return places;
}

Places MissingWebhook(const ClusterFacts& facts) {
  if (facts.Items("webhooks").empty())
    return {"MutatingWebhookConfiguration crossover-admission: expected one, got none"};
  return {};
}

Places WebhookWithoutCertificate(const ClusterFacts& facts) {
  Places places;
  for (const json& configuration : facts.Items("webhooks")) {
    for (const json& webhook : ListAt(configuration, {"webhooks"})) {
      if (TextAt(webhook, {"clientConfig", "caBundle"}).empty())
        places.push_back("webhook " + TextAt(webhook, {"name"}) +
                         ": expected clientConfig.caBundle, got none");
    }
  }
  return places;
}

Places RelabelledMetrics(const ClusterFacts& facts) {
  Places places;
  for (const json& monitor : facts.Items("pod_monitors")) {
    const json& labels = kube::At(kube::At(kube::At(monitor, "spec"), "selector"), "matchLabels");
    if (kube::Text(kube::At(labels, "app.kubernetes.io/name")) != "crossover") continue;
    for (const json& endpoint : ListAt(monitor, {"spec", "podMetricsEndpoints"})) {
      const json& honours = kube::At(endpoint, "honorLabels");
      if (!honours.is_boolean() || !honours.get<bool>())
        places.push_back("PodMonitor " + FullName(monitor) + ": honorLabels: expected true, got " +
                         (honours.is_boolean() ? "false" : "none"));
    }
  }
  return places;
}

}  // namespace crossover::cli
