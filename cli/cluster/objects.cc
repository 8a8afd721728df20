#include "cli/cluster/objects.h"

#include <utility>

#include "cli/render/table.h"
#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/quantity.h"

namespace crossover::cli {
namespace {

using kube::At;
using kube::Text;

const json& Walk(const json& object, std::initializer_list<const char*> path) {
  const json* at = &object;
  for (const char* key : path) at = &At(*at, key);
  return *at;
}

}  // namespace

std::string NameOf(const json& object) { return TextAt(object, {"metadata", "name"}); }
std::string NamespaceOf(const json& object) { return TextAt(object, {"metadata", "namespace"}); }

std::string FullName(const json& object) {
  const std::string name_space = NamespaceOf(object);
  return name_space.empty() ? NameOf(object) : name_space + "/" + NameOf(object);
}

std::string AnnotationOf(const json& object, const std::string& key) {
  return TextAt(object, {"metadata", "annotations", key.c_str()});
}
std::string LabelOf(const json& object, const std::string& key) {
  return TextAt(object, {"metadata", "labels", key.c_str()});
}

const json& ListAt(const json& object, std::initializer_list<const char*> path) {
  static const json none = json::array();
  const json& found = Walk(object, path);
  return found.is_array() ? found : none;
}

std::vector<std::string> TextsOf(const json& config_map) {
  std::vector<std::string> texts;
  const json& data = kube::At(config_map, "data");
  if (!data.is_object()) return texts;
  for (const json& text : data) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

std::string TextAt(const json& object, std::initializer_list<const char*> path) {
  return Text(Walk(object, path));
}

double NumberAt(const json& object, const char* key) {
  const json& value = kube::At(object, key);
  return value.is_number() ? value.get<double>() : 0;
}

std::string InMs(const json& object, const char* key) { return Number(1e3 * NumberAt(object, key), 1); }

std::string LastSeen(const json& advice) {
  return " Its run was last seen at " + TextAt(advice, {"lastSeen"}) + ".";
}

std::int64_t CountAt(const json& object, std::initializer_list<const char*> path, const std::string& last) {
  return kube::CountOf(At(Walk(object, path), last.c_str())).value_or(0);
}

bool IsReady(const json& pod) {
  for (const json& condition : ListAt(pod, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) == "Ready") return TextAt(condition, {"status"}) == "True";
  }
  return false;
}

bool IsOver(const json& pod) {
  const std::string phase = TextAt(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

std::string NodeOf(const json& pod) { return TextAt(pod, {"spec", "nodeName"}); }
std::string GangOfPod(const json& pod) { return AnnotationOf(pod, base::kGangAnnotation); }

bool IsDaemon(const json& pod) {
  const json& pids = At(At(pod, "spec"), "hostPID");
  return pids.is_boolean() && pids.get<bool>();
}

std::vector<const json*> Programs(const ClusterFacts& facts, const std::string& component) {
  std::vector<const json*> pods;
  for (const json& pod : facts.Items("programs")) {
    const bool is_one = LabelOf(pod, "app.kubernetes.io/component") == component && !IsOver(pod);
    if (is_one && (component != "deviceplugin" || IsDaemon(pod))) pods.push_back(&pod);
  }
  return pods;
}

std::set<std::string> NodesWithDaemon(const ClusterFacts& facts) {
  std::set<std::string> nodes;
  for (const json* pod : Programs(facts, "deviceplugin")) nodes.insert(NodeOf(*pod));
  for (const json& node : facts.Items("nodes")) {
    if (CountAt(node, {"status", "capacity"}, base::kSlotResource) > 0) nodes.insert(NameOf(node));
  }
  return nodes;
}

std::vector<api::GpuNode> ParsedGpuNodes(const json& gpu_nodes) {
  std::vector<api::GpuNode> nodes;
  for (const json& object : gpu_nodes) {
    if (auto node = api::ParseGpuNode(object)) nodes.push_back(*std::move(node));
  }
  return nodes;
}

std::vector<api::JobProfile> ParsedProfiles(const json& profiles) {
  std::vector<api::JobProfile> parsed;
  for (const json& object : profiles) {
    if (auto profile = api::ParseJobProfile(object)) parsed.push_back(*std::move(profile));
  }
  return parsed;
}

std::vector<api::GpuNode> KeptGpuNodes(const ClusterFacts& facts) {
  const bool all = !facts.lists.contains("programs");
  const std::set<std::string> served = NodesWithDaemon(facts);
  std::vector<api::GpuNode> kept = ParsedGpuNodes(facts.Items("gpu_nodes"));
  std::erase_if(kept, [&](const api::GpuNode& node) { return !all && !served.contains(node.name); });
  return kept;
}

std::vector<Holder> HoldersIn(const ClusterFacts& facts) {
  std::vector<Holder> holders;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      for (const api::GpuNode::Holder& holder : gpu.holders) {
        holders.push_back({.node = node.name,
                           .gpu = gpu.uuid,
                           .pod = holder.name_space + "/" + holder.pod,
                           .gang = holder.gang,
                           .slots = holder.slots});
      }
    }
  }
  return holders;
}

}  // namespace crossover::cli
