#include "deviceplugin/plugin/preference.h"

#include <algorithm>

namespace crossover::deviceplugin {
namespace {

struct Free {
  std::size_t slots = 0;
  DeviceId first;  // its lowest slot
};

std::map<std::string, Free> FreeByGpu(const std::vector<DeviceId>& available) {
  std::map<std::string, Free> free;
  for (const DeviceId& id : available) {
    Free& gpu = free[id.gpu];
    if (gpu.slots++ == 0 || id.slot < gpu.first.slot) gpu.first = id;
  }
  return free;
}

}  // namespace

std::vector<DeviceId> Prefer(const Choice& choice) {
  std::map<std::string, Free> free = FreeByGpu(choice.available);
  std::vector<DeviceId> preferred;
  const auto take = [&](const DeviceId& id) {
    if (preferred.size() < choice.count && free.erase(id.gpu) == 1) preferred.push_back(id);
  };
  for (const DeviceId& id : choice.must_include) take(id);
  // Otherwise two slots to include are of one GPU, or there are more of them than the container asks for.
  if (preferred.size() != choice.must_include.size()) return {};
  for (const std::string& gpu : choice.assigned) {
    if (const auto found = free.find(gpu); found != free.end()) take(DeviceId(found->second.first));
  }
  std::vector<Free> rest;
  for (const auto& [gpu, slots] : free) rest.push_back(slots);
  std::stable_sort(rest.begin(), rest.end(), [](const Free& a, const Free& b) { return a.slots > b.slots; });
  for (const Free& gpu : rest) take(gpu.first);
  if (preferred.size() != choice.count) return {};
  return preferred;
}

}  // namespace crossover::deviceplugin
