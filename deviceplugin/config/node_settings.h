// Defines the settings that only a daemon with a kubelet has, in addition to those of every daemon
// (config.h).
#pragma once

#include <cstdint>
#include <string>

#include "common/kube/access.h"
#include "deviceplugin/plugin/allocation.h"
#include "deviceplugin/plugin/cdi_spec.h"
#include "deviceplugin/sharing/strategy.h"
#include "deviceplugin/status/node_marks.h"

namespace crossover::deviceplugin {

// Holds the settings of a node that may change while the daemon runs. A new value takes effect without a
// restart, once the daemon has read the file again: about a second after a change of the file, or at SIGHUP.
struct NodeLiveSettings {
  std::uint32_t slots_per_gpu = 4;
  // A GPU stays withheld for this many seconds after its last error.
  std::uint32_t quiet_after_error_s = 300;
  // This is the memory, in bytes, of each GPU whose driver does not tell the memory; 0: not known.
  std::uint64_t gpu_memory_bytes = 0;
  // This is what the network of the node carries, in Gb/s; 0: what its InfiniBand and RoCE ports say.
  std::uint32_t link_gbps = 0;
  CdiSource cdi = CdiSource::kAuto;
  bool numa = true;               // the kubelet is told the NUMA nodes of GPUs
  AllocationSettings allocation;  // its directories are derived from the other settings
  Sharing sharing = Sharing::kAuto;
  std::string library = "/usr/lib/crossover/libcrossover.so";  // installed into containers
};

enum class MetricsReaders : std::uint8_t { kAuthorized, kEverybody };

struct NodeSettings {
  std::string name;  // name of the node in the API server; empty: environment variable NODE_NAME
  // Names the namespace of the installation. The mode of that namespace applies to the whole cluster. If
  // the setting is empty, the environment variable POD_NAMESPACE is used. If that is not set either, no
  // namespace sets the mode of the cluster.
  std::string name_space;
  // These two are directories on the host, ours and the kubelet's. A daemon in a container has these
  // directories mounted at the same paths.
  std::string host_directory = "/var/lib/crossover";
  std::string kubelet_directory = "/var/lib/kubelet";
  // This directory on the host has the subdirectories `pipe` and `shm` of MPS.
  std::string mps_directory = "/run/crossover/mps";
  std::string mps_control = "nvidia-cuda-mps-control";  // client program of the MPS control daemon
  // The kubelet keeps its own cgroup below this one. The path has no leading slash. If the setting is empty
  // and this process runs in a pod, it is derived from the cgroup of this process; otherwise it is the
  // root.
  std::string cgroup_root;
  kube::Access api_server;  // server empty: use the service account of the pod
  // Says which clients may read /metrics. kAuthorized admits clients that the API server allows to get that
  // path.
  MetricsReaders metrics_readers = MetricsReaders::kAuthorized;
  // Says what the daemon writes on its Node object.
  NodeMarksWanted marks;
  NodeLiveSettings live;

  // Returns the directory of the pipes on which MPS listens for clients.
  std::string mps_pipe_directory() const { return mps_directory + "/pipe"; }
  // Returns the directory that pods under MPS have as their /dev/shm.
  std::string mps_shm_directory() const { return mps_directory + "/shm"; }
};

}  // namespace crossover::deviceplugin
