#include "deviceplugin/nvml/numa.h"

#include <cstdio>

#include "common/files/read_file.h"
#include "common/text/number.h"

namespace crossover::deviceplugin {

std::string PciName(unsigned domain, unsigned bus, unsigned device) {
  char name[40];
  std::snprintf(name, sizeof name, "%04x:%02x:%02x.0", domain, bus, device);
  return name;
}

std::optional<int> NumaNodeOf(const std::string& pci_name, const std::string& sysfs) {
  constexpr std::int64_t kMost = 4095;  // Linux knows no more NUMA nodes
  std::string error;
  auto text = files::ReadFile(sysfs + "/bus/pci/devices/" + pci_name + "/numa_node", &error);
  if (!text) return std::nullopt;
  text->erase(text->find_last_not_of('\n') + 1);
  const auto node = text::ParseInteger(*text, 0, kMost);  // -1: none
  return node ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

}  // namespace crossover::deviceplugin
