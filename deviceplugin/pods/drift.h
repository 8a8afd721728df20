// Compares the slots that the kubelet has handed out with the placement. Finds containers with other GPUs
// than they were assigned, GPUs with more than one rank of a gang, and slots that two pods have. The kubelet
// may deviate from the placement at any time, and the daemon has to work with what the kubelet did. Pure.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

// Describes a container whose GPUs differ from its assignment.
struct Drift {
  std::string pod_uid;
  std::string container;
  std::vector<std::string> assigned;  // UUIDs of GPUs, sorted
  std::vector<std::string> given;

  friend bool operator==(const Drift&, const Drift&) = default;
};

// Returns the containers whose GPUs differ from their assignment. Containers without an assignment or
// without an entry in `handed_out` do not count, nor do pods that have ended.
std::vector<Drift> FindDrift(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out);

// Describes a GPU that several pods of one gang are on, or several pods of one controller without a gang.
struct Collision {
  std::string gang;  // RanksOf() the pods
  std::string gpu_uuid;
  std::vector<std::string> pods;  // UIDs, at least two, oldest first

  friend bool operator==(const Collision&, const Collision&) = default;
};

// Describes a device ID that several pods have. The kubelet may hand out an ID twice if a pod ends meanwhile.
struct DuplicateAllocation {
  std::string id;
  std::vector<std::string> pods;  // UIDs, at least two, oldest first

  friend bool operator==(const DuplicateAllocation&, const DuplicateAllocation&) = default;
};

// Returns the IDs that several pods have. Several containers of one pod may use the same ID, one after the
// other. Pods that have ended do not count.
std::vector<DuplicateAllocation> FindDuplicates(const std::vector<Pod>& pods,
                                                const std::vector<DeviceAllocation>& handed_out);

// Returns the GPUs that have several pods of one gang, or of one controller. Pods that have ended do not
// count.
std::vector<Collision> FindCollisions(const std::vector<Pod>& pods,
                                      const std::vector<DeviceAllocation>& handed_out);

}  // namespace crossover::deviceplugin
