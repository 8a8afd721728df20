// What a daemon is told that serves a kubelet, beside what every daemon is.
#pragma once

#include <cstdint>
#include <string>

#include "common/kube/access.h"
#include "deviceplugin/plugin/allocation.h"

namespace crossover::deviceplugin {

struct NodeSettings {
  std::string name;  // of the node, as the API server knows it; empty: NODE_NAME of the environment
  std::uint32_t slots_per_gpu = 2;
  std::uint32_t quiet_after_error_s = 300;  // of a GPU, before its slots are given out again
  AllocationSettings allocation;            // but for its directories, which follow from the others
  // Of the host, and mounted at the same place where the daemon is in a container: ours, and the kubelet's.
  std::string host_directory = "/var/lib/crossover";
  std::string kubelet_directory = "/var/lib/kubelet";
  std::string library = "/usr/lib/crossover/libcrossover.so";  // what is put into containers
  kube::Access api_server;                                     // its server empty: as a pod has it
};

}  // namespace crossover::deviceplugin
