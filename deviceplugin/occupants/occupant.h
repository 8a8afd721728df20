// Who is on a GPU, as the driver has it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

// A process with a context on a GPU.
struct Occupant {
  std::string gpu_uuid;
  pid_t pid = 0;
  std::string program;                 // its name, as the kernel has it
  std::optional<std::string> pod_uid;  // nothing: it belongs to no pod of this node
  bool has_library = false;            // ours is in it; told of those alone that take no part
};

// Of all of these GPUs; nothing where the driver answers for none. On one for which it does not (it may have
// fallen off the bus, for good) those of `before` are, as far as they run. Without processes that end
// meanwhile, or that this daemon cannot see. `cgroup_root`: the kubelet's (cgroup.h).
std::optional<std::vector<Occupant>> LookForOccupants(const NvmlLibrary& nvml,
                                                      const std::vector<std::string>& gpu_uuids,
                                                      const std::string& cgroup_root,
                                                      const std::vector<Occupant>& before);

// Whether a process has loaded the file of that name: the kernel's list of what it has may be long.
bool HasLibrary(pid_t pid, const std::string& library);

}  // namespace crossover::deviceplugin
