// Finds the NUMA node of a GPU: the part of the host's processors and memory to which it is attached.
#pragma once

#include <optional>
#include <string>

namespace crossover::deviceplugin {

// Returns the name of a PCI device in sysfs, such as 0000:3b:00.0.
std::string PciName(unsigned domain, unsigned bus, unsigned device);

// Returns the NUMA node of the PCI device. Returns nullopt if the host has only one, or does not say. `sysfs`
// is the folder where sysfs is mounted.
std::optional<int> NumaNodeOf(const std::string& pci_name, const std::string& sysfs = "/sys");

}  // namespace crossover::deviceplugin
