// Checks what seats are chosen by: labels of nodes tell which of them are near each other, and the
// configuration of the extender tells how fast GPUs are.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/base/refusal.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

// These labels say no more than that nodes are in one data centre.
constexpr std::string_view kWide[] = {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"};

bool IsOfAKey(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("-_./").find(c) != std::string_view::npos;
}

// Returns whether a list of the configuration has this key as an entry. The text is looked at without regard
// to its form, since this program reads no YAML; a colon follows the settings' own names.
bool Lists(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t end = at + key.size();
    const bool begins = at == 0 || !IsOfAKey(text[at - 1]);
    const bool ends = end == text.size() || (!IsOfAKey(text[end]) && text[end] != ':');
    if (begins && ends) return true;
  }
  return false;
}

// Returns whether the configuration has this name as a key of a map, with or without quotation marks. A name
// that is a part of another one, such as A10 of A100 or of NVIDIA A10, is no such key.
bool HasKey(std::string_view text, std::string_view name) {
  constexpr std::string_view kQuotes = "\"'", kBefore = "\n{,";
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    std::size_t end = at + name.size();
    if (end < text.size() && kQuotes.find(text[end]) != std::string_view::npos) ++end;
    std::size_t begin = at;
    if (begin > 0 && kQuotes.find(text[begin - 1]) != std::string_view::npos) --begin;
    while (begin > 0 && text[begin - 1] == ' ') --begin;
    const bool begins = begin == 0 || kBefore.find(text[begin - 1]) != std::string_view::npos;
    if (begins && end < text.size() && text[end] == ':') return true;
  }
  return false;
}

// Returns whether the node has a label that the extender's configuration names and that is narrower than a
// zone.
bool HasNarrowLabel(const json& node, const std::string& config) {
  const json& labels = kube::At(kube::At(node, "metadata"), "labels");
  if (!labels.is_object()) return false;
  return std::ranges::any_of(labels.items(), [&](const auto& label) {
    return std::ranges::find(kWide, label.key()) == std::end(kWide) && Lists(config, label.key());
  });
}

// Returns the texts of the extender's configuration.
std::string ConfigIn(const ClusterFacts& facts) {
  std::string all;
  for (const json& config : facts.Items("extender_config")) {
    for (const std::string& text : TextsOf(config)) all += text + "\n";
  }
  return all;
}

}  // namespace

std::map<std::string, std::size_t> GangsOverUnnamedDomains(const ClusterFacts& facts) {
  if (facts.Items("extender_config").empty())
    return {};  // the ConfigMap has another name, so its labels are not known
  std::map<std::string, std::set<std::string>> nodes_of;  // by gang
  for (const Holder& holder : HoldersIn(facts)) {
    if (!holder.gang.empty()) nodes_of[holder.gang].insert(holder.node);
  }
  const std::string config = ConfigIn(facts);
  std::set<std::string> narrow;
  for (const json& node : facts.Items("nodes")) {
    if (HasNarrowLabel(node, config)) narrow.insert(NameOf(node));
  }
  std::map<std::string, std::size_t> over;
  for (const auto& [gang, nodes] : nodes_of) {
    const bool unnamed =
        std::ranges::any_of(nodes, [&](const std::string& node) { return !narrow.contains(node); });
    if (nodes.size() > 1 && unnamed) over[gang] = nodes.size();
  }
  return over;
}

std::string OverNodes(const std::string& gang, std::size_t nodes) {
  return "gang " + gang + " on " + std::to_string(nodes) + " nodes";
}

Places UnnamedDomains(const ClusterFacts& facts) {
  Places places;
  for (const auto& [gang, nodes] : GangsOverUnnamedDomains(facts))
    places.push_back(
        OverNodes(gang, nodes) +
        ": expected on each of these nodes a label of gangs.topology narrower than a zone, got a node "
        "without one");
  return places;
}

Places ModelsWithoutSpeed(const ClusterFacts& facts) {
  const std::string config = ConfigIn(facts);
  if (config.find("gpu_speeds") == std::string::npos) return {};
  std::map<std::string, std::string> node_of;  // by model
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      if (!gpu.model.empty()) node_of.try_emplace(gpu.model, node.name);
    }
  }
  if (node_of.size() < 2) return {};
  Places places;
  for (const auto& [model, node] : node_of) {
    if (!HasKey(config, model))
      places.push_back("\"" + base::Shown(model) + "\" of node " + node +
                       ": expected an entry in gangs.gpu_speeds, got none");
  }
  return places;
}

}  // namespace crossover::cli
