// Reads which slots the kubelet has handed out, from the kubelet's checkpoint file. No other source has pods,
// containers and device IDs together.
//
// The file is not an official interface, although it has not changed for years. Its readers must therefore
// work without it. It has everything that was handed out before the current Allocate() call. It may still
// have entries of pods that are gone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::deviceplugin {

struct DeviceAllocation {
  std::string pod_uid;
  std::string container;
  std::vector<std::string> ids;  // sorted
  // Holds our answer in wire format. The kubelet gives the container the same answer again at each restart.
  std::string answer;

  friend bool operator==(const DeviceAllocation&, const DeviceAllocation&) = default;
};

// Holds the device IDs of another resource that a pod has.
struct DeviceAllocationByOthers {
  std::string resource;
  std::string pod_uid;
  std::vector<std::string> ids;  // sorted

  friend bool operator==(const DeviceAllocationByOthers&, const DeviceAllocationByOthers&) = default;
};

struct Checkpoint {
  std::vector<DeviceAllocation> handed_out;  // entries of our resource
  std::vector<DeviceAllocationByOthers> by_others;
  // Holds, by resource, the device IDs of other resources that were healthy at some time.
  std::map<std::string, std::vector<std::string>> registered;
};

// Parses the text of the file. Returns nullopt if it is not a checkpoint file. `resource` is the name of
// our resource. Pure.
std::optional<Checkpoint> ParseCheckpoint(std::string_view text, const std::string& resource);

}  // namespace crossover::deviceplugin
