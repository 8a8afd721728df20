// Finds GPUs of this node that a driver of dynamic resource allocation (DRA), such as NVIDIA's, gives out or
// has given out. It reads ResourceSlices and ResourceClaims of any version of resource.k8s.io from v1beta1
// on. Pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/withheld.h"

namespace crossover::deviceplugin {

// Names NVIDIA's driver for GPUs. Its devices are GPUs, also those that name no UUID.
inline constexpr char kNvidiasDraDriver[] = "gpu.nvidia.com";

// Holds one ResourceSlice: devices that a driver gives out on one node.
struct DraSlice {
  std::string name;
  std::string driver;
  std::string pool;
  // Holds what each device says of itself, by its name: the texts of its attributes.
  std::map<std::string, std::vector<std::string>> devices;

  friend bool operator==(const DraSlice&, const DraSlice&) = default;
};

// Holds a device that is allocated to a ResourceClaim.
struct DraDevice {
  std::string driver;
  std::string pool;
  std::string name;

  friend auto operator<=>(const DraDevice&, const DraDevice&) = default;
};

// Holds one ResourceClaim that has devices.
struct DraClaim {
  std::string name;  // namespace/name
  std::vector<DraDevice> devices;

  friend bool operator==(const DraClaim&, const DraClaim&) = default;
};

// Read an object. What is missing, or of another type than expected, reads as empty.
DraSlice ReadSlice(const nlohmann::json& object);
// Leaves out devices that are allocated for administrative access only: they are not given to the claim.
DraClaim ReadClaim(const nlohmann::json& object);

// Remembers which GPUs the devices of drivers are. A kubelet removes the slices of its node when it starts,
// and those of a driver that is gone. Claims name devices by name alone, so the names are needed then, too.
// Not thread-safe.
class DraDevices {
 public:
  // Notes the devices of all slices of this node.
  void Note(const std::vector<DraSlice>& slices);

  // Returns whether a driver has ever given out GPUs here.
  bool any() const { return !drivers_.empty(); }
  // Returns whether the device is, or may be, a GPU of this node. `uuid` is the GPU.
  bool MayBe(const DraDevice& device, const std::string& uuid) const;

 private:
  std::set<std::pair<std::string, std::string>> drivers_;  // with their pools, of slices with GPUs
  std::map<DraDevice, std::vector<std::string>> texts_;    // what devices have said of themselves
};

// Returns the GPUs of `uuids` that drivers give out by `slices`, or have given to `claims`, with the reason
// to withhold them.
std::map<std::string, base::WithheldReason> FindCompetingDraDrivers(const std::vector<DraSlice>& slices,
                                                                    const std::vector<DraClaim>& claims,
                                                                    const DraDevices& known,
                                                                    const std::vector<std::string>& uuids);

// Returns the newest version of resource.k8s.io, of those that this file reads, that the API server serves.
// `group` is its answer to GET /apis/resource.k8s.io. Returns an empty string if there is none.
std::string ChooseDraVersion(const nlohmann::json& group);

}  // namespace crossover::deviceplugin
