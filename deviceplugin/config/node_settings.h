// What a daemon is told that serves a kubelet, beside what every daemon is.
#pragma once

#include <cstdint>
#include <string>

#include "common/kube/access.h"
#include "deviceplugin/plugin/allocation.h"
#include "deviceplugin/sharing/choice.h"

namespace crossover::deviceplugin {

// Of a node, and in force from the moment it is told.
struct NodeLiveSettings {
  std::uint32_t slots_per_gpu = 4;
  std::uint32_t quiet_after_error_s = 300;  // of a GPU, before its slots are given out again
  AllocationSettings allocation;            // its directories follow from the others
  Sharing sharing = Sharing::kAuto;
  std::string library = "/usr/lib/crossover/libcrossover.so";  // what is put into containers
};

enum class MetricsReaders : std::uint8_t { kAuthorized, kEverybody };

struct NodeSettings {
  std::string name;  // of the node, as the API server knows it; empty: NODE_NAME of the environment
  // Of the installation: the one whose mode holds for the whole cluster. Empty: POD_NAMESPACE of the
  // environment, and without it none.
  std::string name_space;
  // Of the host, and mounted at the same place where the daemon is in a container: ours, and the kubelet's.
  std::string host_directory = "/var/lib/crossover";
  std::string kubelet_directory = "/var/lib/kubelet";
  std::string mps_directory = "/run/crossover/mps";     // of the host, too: `pipe` and `shm` of MPS
  std::string mps_control = "nvidia-cuda-mps-control";  // the program that speaks to its control daemon
  // Where the kubelet's control groups are, without the first slash; unset: as this process' own, where it is
  // a pod's, else the top.
  std::string cgroup_root;
  kube::Access api_server;  // its server empty: as a pod has it
  MetricsReaders metrics_readers =
      MetricsReaders::kAuthorized;  // those whom the API server lets get /metrics
  NodeLiveSettings live;

  // Where MPS listens for clients.
  std::string mps_pipe_directory() const { return mps_directory + "/pipe"; }
};

}  // namespace crossover::deviceplugin
