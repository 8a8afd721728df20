#include "deviceplugin/pods/drift.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace crossover::deviceplugin {
namespace {

const Pod* Find(const std::vector<Pod>& pods, const std::string& uid) {
  const auto found =
      std::find_if(pods.begin(), pods.end(), [&uid](const Pod& pod) { return pod.uid == uid; });
  return found == pods.end() ? nullptr : &*found;
}

// "GPU-<uuid>::<slot>" without the slot.
std::string UuidOf(const std::string& id) { return id.substr(0, id.find("::")); }

std::vector<std::string> GpusOf(const HandedOut& entry) {
  std::set<std::string> uuids;
  for (const std::string& id : entry.ids) uuids.insert(UuidOf(id));
  return {uuids.begin(), uuids.end()};
}

std::string NameOf(const Pod& pod) { return pod.name_space + "/" + pod.name; }

}  // namespace

std::vector<Drift> FindDrift(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out) {
  std::vector<Drift> drifts;
  for (const HandedOut& entry : handed_out) {
    const Pod* pod = Find(pods, entry.pod_uid);
    if (pod == nullptr || pod->over) continue;
    const auto assignment = AssignmentOf(*pod);
    const auto assigned = assignment.find(entry.container);
    if (assigned == assignment.end()) continue;
    Drift drift{NameOf(*pod) + "/" + entry.container, assigned->second, GpusOf(entry)};
    std::sort(drift.assigned.begin(), drift.assigned.end());
    if (drift.assigned != drift.given) drifts.push_back(std::move(drift));
  }
  return drifts;
}

std::vector<Collision> FindCollisions(const std::vector<Pod>& pods,
                                      const std::vector<HandedOut>& handed_out) {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> ranks;  // by gang and GPU
  for (const HandedOut& entry : handed_out) {
    const Pod* pod = Find(pods, entry.pod_uid);
    if (pod == nullptr || pod->over) continue;
    for (const std::string& uuid : GpusOf(entry)) ranks[{GangOf(*pod), uuid}].insert(NameOf(*pod));
  }
  std::vector<Collision> collisions;
  for (const auto& [key, names] : ranks) {
    if (names.size() > 1) collisions.push_back({key.first, key.second, {names.begin(), names.end()}});
  }
  return collisions;
}

}  // namespace crossover::deviceplugin
