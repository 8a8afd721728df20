// Decides what a container gets with its slots. The answer depends only on the slot IDs and the daemon's
// settings. The kubelet stores the answer and reuses it whenever the container restarts. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "deviceplugin/plugin/device_id.h"

namespace crossover::deviceplugin {

// Defines how a container gets the GPU itself.
enum class DeviceStrategy {
  kCdi,          // names of CDI devices, as in the specifications that NVIDIA's toolkit writes
  kDeviceNodes,  // the device files, and the driver's files from a directory of the node
  // NVIDIA_VISIBLE_DEVICES, for NVIDIA's own container runtime, and the device files. That runtime adds files
  // of which containerd does not know. If the kubelet does not name them too, a daemon-reload of systemd, the
  // static CPU manager or a resize takes them from the running container.
  kEnvironment
};

// Defines how the processes of a container load the library.
enum class Injection {
  // A file is mounted over /etc/ld.so.preload. This works whatever the container's environment is, and also
  // for ranks that are started through sshd.
  kPreloadFile,
  kEnvironment  // LD_PRELOAD, which the container's own environment overrides
};

struct AllocationSettings {
  DeviceStrategy devices = DeviceStrategy::kCdi;
  std::string cdi_kind = "nvidia.com/gpu";  // vendor/class of the CDI names
  // With kDeviceNodes, this host directory with the driver's files is mounted at /usr/local/nvidia. If it
  // is empty, nothing is mounted.
  std::string driver_root;
  Injection injection = Injection::kPreloadFile;
  // This host directory holds libcrossover.so and ld.so.preload of this version.
  std::string library_directory;
  std::string socket_directory;  // directory on the host with the arbiter's socket
  // This host directory holds `pipe` and `shm` of MPS. If it is empty, containers are not clients of MPS.
  std::string mps_directory;
};

// Holds what an allocation needs to know of a GPU of this node.
struct AllocatableGpu {
  // For kDeviceNodes and kEnvironment: the GPU's own files, and the files that all GPUs share.
  std::vector<std::string> device_files;

  friend bool operator==(const AllocatableGpu&, const AllocatableGpu&) = default;
};

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = true;

  friend bool operator==(const Mount&, const Mount&) = default;
};

struct Allocation {
  std::map<std::string, std::string> environment;
  std::vector<Mount> mounts;
  std::vector<std::string> device_files;  // read and write, at the same path in the container
  std::vector<std::string> cdi_names;
};

// Says why a request is refused. The reason is shown in the pod's events.
struct AllocationRefused {
  std::string reason;
};

// Returns what a container with the slots `ids` gets. `gpus` are all GPUs of this node, by UUID. Refuses an
// empty list of IDs, an ID that is not a slot, a GPU that is not on this node, and two slots of one GPU.
std::variant<Allocation, AllocationRefused> Allocate(std::span<const std::string> ids,
                                                     const std::map<std::string, AllocatableGpu>& gpus,
                                                     const AllocationSettings& settings);

}  // namespace crossover::deviceplugin
