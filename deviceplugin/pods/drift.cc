#include "deviceplugin/pods/drift.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "deviceplugin/pods/slot_uuid.h"

namespace crossover::deviceplugin {
namespace {

std::vector<std::string> GpusOf(const DeviceAllocation& entry) {
  std::set<std::string> uuids;
  for (const std::string& id : entry.ids) uuids.insert(UuidOfSlot(id));
  return {uuids.begin(), uuids.end()};
}

// Returns the UIDs of the pods, oldest first.
std::vector<std::string> InOrder(const std::set<const Pod*>& pods) {
  std::vector<const Pod*> sorted(pods.begin(), pods.end());
  std::sort(sorted.begin(), sorted.end(), [](const Pod* a, const Pod* b) { return CameBefore(*a, *b); });
  std::vector<std::string> uids;
  for (const Pod* pod : sorted) uids.push_back(pod->uid);
  return uids;
}

}  // namespace

std::vector<Drift> FindDrift(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out) {
  std::vector<Drift> drifts;
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr) continue;
    const auto assignment = AssignmentOf(*pod);
    const auto assigned = assignment.find(entry.container);
    if (assigned == assignment.end()) continue;
    Drift drift{pod->uid, entry.container, assigned->second, GpusOf(entry)};
    std::sort(drift.assigned.begin(), drift.assigned.end());
    if (drift.assigned != drift.given) drifts.push_back(std::move(drift));
  }
  return drifts;
}

std::vector<Collision> FindCollisions(const std::vector<Pod>& pods,
                                      const std::vector<DeviceAllocation>& handed_out) {
  using Key = std::tuple<std::string, std::string, std::string>;  // gang, UID of its controller, GPU
  std::map<Key, std::set<const Pod*>> ranks;
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr) continue;
    const std::string gang = RanksOf(*pod);
    // The pods of a gang may have several controllers. The others are known by their controller.
    const std::string controller = gang == GangOf(*pod) ? "" : pod->controller_uid;
    for (const std::string& uuid : GpusOf(entry)) ranks[{gang, controller, uuid}].insert(pod);
  }
  std::vector<Collision> collisions;
  for (const auto& [key, on_it] : ranks) {
    if (on_it.size() > 1) collisions.push_back({std::get<0>(key), std::get<2>(key), InOrder(on_it)});
  }
  return collisions;
}

std::vector<DuplicateAllocation> FindDuplicates(const std::vector<Pod>& pods,
                                                const std::vector<DeviceAllocation>& handed_out) {
  std::map<std::string, std::set<const Pod*>> holders;  // by ID
  for (const DeviceAllocation& entry : handed_out) {
    const Pod* pod = FindLiving(pods, entry.pod_uid);
    if (pod == nullptr) continue;
    for (const std::string& id : entry.ids) holders[id].insert(pod);
  }
  std::vector<DuplicateAllocation> doubles;
  for (const auto& [id, have_it] : holders) {
    if (have_it.size() > 1) doubles.push_back({id, InOrder(have_it)});
  }
  return doubles;
}

}  // namespace crossover::deviceplugin
