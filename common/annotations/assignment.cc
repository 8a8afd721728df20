#include "common/annotations/assignment.h"

#include "common/kube/json.h"

namespace crossover::annotations {

using nlohmann::json;

GpusByContainer ContainersIn(const json& object) {
  GpusByContainer containers;
  const json& named = kube::At(object, "containers");
  if (!named.is_object()) return containers;
  for (const auto& [name, gpus] : named.items()) {
    if (!gpus.is_array()) continue;
    for (const json& gpu : gpus) {
      if (gpu.is_string()) containers[name].push_back(gpu.get<std::string>());
    }
  }
  return containers;
}

std::string WriteAssignment(const GpusByContainer& containers) {
  return kube::Dump({{"containers", containers}});
}

GpusByContainer ReadAssignment(const std::string& text) {
  return ContainersIn(json::parse(text, nullptr, false));
}

}  // namespace crossover::annotations
