#include "deviceplugin/plugin/allocation.h"

#include <algorithm>
#include <set>

#include "common/base/mps_pipe.h"
#include "common/base/names.h"
#include "common/base/refusal.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kVisibleDevices[] = "NVIDIA_VISIBLE_DEVICES";
constexpr char kDriverRootInContainer[] = "/usr/local/nvidia";

std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) joined += (joined.empty() ? "" : ",") + part;
  return joined;
}

void AddDevices(const std::vector<std::string>& uuids, const std::map<std::string, AllocatableGpu>& gpus,
                const AllocationSettings& settings, Allocation* allocation) {
  // If NVIDIA's runtime is the default runtime, it would otherwise add the GPUs that the image asks for,
  // which are often all GPUs.
  allocation->environment[kVisibleDevices] =
      settings.devices == DeviceStrategy::kEnvironment ? Joined(uuids) : "void";
  std::set<std::string> files;
  for (const std::string& uuid : uuids) {
    if (settings.devices == DeviceStrategy::kCdi) {
      allocation->cdi_names.push_back(settings.cdi_kind + "=" + uuid);
      continue;
    }
    const std::vector<std::string>& own = gpus.at(uuid).device_files;
    files.insert(own.begin(), own.end());
  }
  allocation->device_files.assign(files.begin(), files.end());
  if (settings.devices == DeviceStrategy::kDeviceNodes && !settings.driver_root.empty()) {
    allocation->mounts.push_back({kDriverRootInContainer, settings.driver_root, true});
  }
}

void AddLibrary(const AllocationSettings& settings, Allocation* allocation) {
  allocation->mounts.push_back({base::kLibraryDirectory, settings.library_directory, true});
  // Read-only is enough: a client can still connect to the socket, but cannot create files in the
  // directory.
  allocation->mounts.push_back({base::kSocketDirectory, settings.socket_directory, true});
  if (settings.injection == Injection::kPreloadFile) {
    allocation->mounts.push_back({base::kPreloadFile, settings.library_directory + "/ld.so.preload", true});
  } else {
    allocation->environment["LD_PRELOAD"] = std::string(base::kLibraryDirectory) + "/" + base::kLibraryName;
  }
}

// Adds the two directories in which clients of MPS communicate with its server.
void AddMps(const AllocationSettings& settings, Allocation* allocation) {
  if (settings.mps_directory.empty()) return;
  const std::string pipe = std::string(base::kMpsDirectory) + "/pipe";
  allocation->environment[base::kMpsPipeVariable] = pipe;
  allocation->mounts.push_back({pipe, settings.mps_directory + "/pipe", false});
  allocation->mounts.push_back({base::kShm, settings.mps_directory + "/shm", false});
}

}  // namespace

std::variant<Allocation, AllocationRefused> Allocate(std::span<const std::string> ids,
                                                     const std::map<std::string, AllocatableGpu>& gpus,
                                                     const AllocationSettings& settings) {
  if (ids.empty()) return AllocationRefused{base::Refusal("device IDs", "at least one", "none")};
  std::vector<std::string> uuids;
  for (const std::string& text : ids) {
    const auto id = ParseDeviceId(text);
    if (!id) return AllocationRefused{base::Refusal("device ID", "GPU-<uuid>::<slot>", base::Shown(text))};
    const auto gpu = gpus.find(id->gpu);
    if (gpu == gpus.end())
      return AllocationRefused{base::Refusal("device ID", "one of a GPU of this node", text)};
    if (std::find(uuids.begin(), uuids.end(), id->gpu) != uuids.end()) {
      return AllocationRefused{"two slots of GPU " + id->gpu +
                               " for one container: each slot must be of another GPU; ask for fewer " +
                               base::kSlotResource};
    }
    uuids.push_back(id->gpu);
  }
  std::sort(uuids.begin(), uuids.end());  // the kubelet gives the IDs in random order
  Allocation allocation;
  AddDevices(uuids, gpus, settings, &allocation);
  AddLibrary(settings, &allocation);
  AddMps(settings, &allocation);
  return allocation;
}

}  // namespace crossover::deviceplugin
