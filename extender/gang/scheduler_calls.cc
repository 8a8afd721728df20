// Implements the calls of a scheduler: Filter, Bind and Preempt.
#include <algorithm>
#include <utility>

#include "common/base/names.h"
#include "extender/gang/containers.h"
#include "extender/gang/gangs.h"
#include "extender/gang/plan_executor.h"
#include "extender/gang/reconcile.h"

namespace crossover::extender {
namespace {

bool Asked(std::span<const std::string_view> nodes, const std::string& node) {
  return std::ranges::find(nodes, std::string_view(node)) != nodes.end();
}

FilterAnswer Anywhere(std::span<const std::string_view> nodes) {
  FilterAnswer answer;
  answer.nodes.assign(nodes.begin(), nodes.end());
  return answer;
}

FilterAnswer Nowhere(std::string why) {
  FilterAnswer answer;
  answer.others = std::move(why);
  return answer;
}

// Returns the entry of an open plan whose reservation is on the pod, or null. A pod of a later wave has none
// before it is released: the scheduler may ask about it earlier if its gate was lifted before the plan.
const PlanEntry* EntryOf(const GangRecord& gang, const std::string& uid) {
  if (!gang.plan || gang.plan->phase != PlanPhase::kOpen) return nullptr;
  const auto entry = std::ranges::find(gang.plan->entries, uid, &PlanEntry::uid);
  if (entry == gang.plan->entries.end() || !IsReserved(gang.members.at(uid).phase)) return nullptr;
  return entry->wave > 0 && !IsReleased(gang.members.at(uid).phase) ? nullptr : &*entry;
}

}  // namespace

FilterAnswer Gangs::LeftOn(std::string node) {
  FilterAnswer answer;
  answer.nodes = {std::move(node)};
  answer.others = "crossover: GPUs are reserved for it on another node";
  return answer;
}

std::string Gangs::SeatOf(const std::string& uid) const {
  const auto id = store_.gang_of.find(uid);
  if (id == store_.gang_of.end()) return "";
  const GangRecord& gang = store_.gangs.at(id->second);
  const View view = ViewOf(store_, gang, uid);
  if (view.pod == nullptr || !view.node().empty()) return view.pod == nullptr ? "" : view.node();
  const PlanEntry* entry = EntryOf(gang, uid);
  return entry == nullptr ? "" : entry->seat.node;
}

std::optional<FilterAnswer> Gangs::Filter(const PodRef& ref, std::span<const std::string_view> nodes,
                                          double now_s) {
  store_.now_s = now_s;
  if (!ref.slots) return Anywhere(nodes);
  const Pod* pod = store_.cache->FindPod(ref.uid);
  if (pod == nullptr) return std::nullopt;
  GangRecord* gang = store_.GangOf(ref.uid);
  if (gang == nullptr) return Anywhere(nodes);
  const std::string node = SeatOf(ref.uid);
  if (node.empty()) return Nowhere(kWaits + gang->text);
  if (Asked(nodes, node)) return LeftOn(node);
  // A scheduler tries the nominated node first and alone. Such a question says nothing about other nodes, so
  // it does not exclude the reserved node.
  const bool tries = nodes.size() == 1 && nodes.front() == ref.nominated;
  if (ViewOf(store_, *gang, ref.uid).node().empty() && !tries) {
    Exclude(store_, *gang, node);
    Fail(store_, *gang, "the scheduler refused the node " + node, true);
  }
  return Nowhere(kWaits + NotThere(node));
}

void Gangs::Bind(const PodRef& ref, const std::string& node, BindHandle bind_handle, double now_s) {
  store_.now_s = now_s;
  const auto answer = [&](std::string error) {
    store_.actions.push_back(
        {.kind = Action::Kind::kAnswer, .text = std::move(error), .bind_handle = bind_handle});
  };
  GangRecord* gang = store_.GangOf(ref.uid);
  if (gang == nullptr) {
    return answer(std::string("the extender does not know the pod yet, or the pod asks for no ") +
                  base::kSlotResource);
  }
  const View view = ViewOf(store_, *gang, ref.uid);
  if (!view.living()) return answer("the pod is gone");
  if (!view.node().empty()) {
    return answer(view.node() == node ? "" : "the pod is bound to " + view.node() + " already");
  }
  const PlanEntry* entry = EntryOf(*gang, ref.uid);
  if (entry == nullptr) return answer(kWaits + gang->text);
  if (entry->seat.node != node)
    return answer("its GPUs are reserved on " + entry->seat.node + ", not on " + node);
  Member& member = gang->members.at(ref.uid);
  store_.Answer(member, "its scheduler asked again");
  member.bind_handle = bind_handle;
  member.held_s = now_s;
  store_.dirty.insert(gang->membership.id);
}

std::map<std::string, Victims> Gangs::Preempt(const PodRef& ref,
                                              std::map<std::string, Victims> by_node) const {
  // A pod of a gang waits for GPUs on its own node, or for other jobs to end. Evicting pods does not help
  // it.
  if (store_.gang_of.contains(ref.uid)) return {};
  std::erase_if(by_node, [this](const auto& entry) {
    return std::ranges::any_of(entry.second.uids, [this](const std::string& uid) {
      const auto id = store_.gang_of.find(uid);
      return id != store_.gang_of.end() && store_.gangs.at(id->second).membership.size != 1;
    });
  });
  return by_node;
}

}  // namespace crossover::extender
