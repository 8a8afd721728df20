#include "deviceplugin/pods/mistyped.h"

#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kNode[] = "Node", kNamespace[] = "Namespace", kPod[] = "Pod";

std::string Whose(const kube::Regarding& object) {
  if (object.kind == kPod) return "pod " + object.name_space + "/" + object.name;
  return (object.kind == kNode ? "node " : "namespace ") + object.name;
}

}  // namespace

std::vector<kube::Event> Mistyped::Look(const Switches& switches) {
  std::set<One> now;
  const auto add = [&now](const kube::Regarding& object, const std::vector<std::string>& faults) {
    for (const std::string& fault : faults) now.emplace(object, fault);
  };
  // The UID is the node's name, because `kubectl describe` looks for the events of a node by that.
  add({kNode, "", switches.node, switches.node}, switches.of_node);
  for (const auto& [name, faults] : switches.namespaces) add({kNamespace, name, name, ""}, faults);
  for (const Pod& pod : switches.pods) {
    if (!pod.over) add({kPod, pod.name_space, pod.name, pod.uid}, pod.switch_faults);
  }
  const std::lock_guard lock(mutex_);
  std::vector<kube::Event> events;
  for (const One& one : now) {
    if (known_.contains(one)) continue;
    const auto& [object, fault] = one;
    logging::Warn(Whose(object) + ": " + fault + "; it counts as not set");
    events.push_back({.regarding = object,
                      .reason = "MistypedSwitch",
                      .action = "ReadSwitches",
                      .note = fault + "; it counts as not set",
                      .once_in_cluster = object.kind == kNamespace});
  }
  known_ = std::move(now);
  return events;
}

std::map<std::string, std::uint64_t> Mistyped::counts() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::uint64_t> counts = {{kNode, 0}, {kNamespace, 0}, {kPod, 0}};
  for (const auto& [object, fault] : known_) ++counts[object.kind];
  return counts;
}

}  // namespace crossover::deviceplugin
