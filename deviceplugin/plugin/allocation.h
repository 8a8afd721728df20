// What a container gets with its slots: a function of their IDs and of the daemon's settings, and of nothing
// else. A kubelet keeps the answer and gives it again whenever the container starts anew. Pure.
#pragma once

#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "deviceplugin/plugin/device_id.h"

namespace crossover::deviceplugin {

// How a container gets the GPU itself.
enum class DeviceStrategy {
  kCdi,          // names of CDI devices, as NVIDIA's toolkit writes their specifications
  kDeviceNodes,  // the device files, and the driver's files from a directory of the node
  kEnvironment   // NVIDIA_VISIBLE_DEVICES, for NVIDIA's own runtime
};

// How the library gets into a container's processes.
enum class Injection {
  kPreloadFile,  // a file over /etc/ld.so.preload: whatever the container's environment, and also for ranks
                 // that come in through sshd
  kEnvironment   // LD_PRELOAD, which the container's own environment overrides
};

struct AllocationSettings {
  DeviceStrategy devices = DeviceStrategy::kCdi;
  std::string cdi_kind = "nvidia.com/gpu";  // vendor/class of the CDI names
  std::string driver_root;  // kDeviceNodes: mounted where the driver is looked for; empty: nothing
  Injection injection = Injection::kPreloadFile;
  std::string library_directory;  // on the host, of this version: libcrossover.so and ld.so.preload
  std::string socket_directory;   // on the host: the arbiter's
  std::string mps_directory;      // on the host: of MPS's `pipe` and `shm`; empty: containers get none
};

// A GPU of this node, as far as handing it out goes.
struct AllocatableGpu {
  std::vector<std::string> device_files;  // kDeviceNodes: all that are its own or shared by all

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
  std::vector<std::string> device_files;  // the same path in the container, read and write
  std::vector<std::string> cdi_names;
};

// What is wrong with the request, for the pod's events.
struct AllocationRefused {
  std::string reason;
};

// `gpus`: all of this node, by UUID. Refused: an ID that is none, a GPU that is not here, no IDs, and two
// slots of one GPU.
std::variant<Allocation, AllocationRefused> Allocate(std::span<const std::string> ids,
                                                     const std::map<std::string, AllocatableGpu>& gpus,
                                                     const AllocationSettings& settings);

}  // namespace crossover::deviceplugin
