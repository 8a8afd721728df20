// Finds the processes on the GPUs, as the driver reports them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

// Describes a process with a context on a GPU.
struct GpuProcess {
  std::string gpu_uuid;
  pid_t pid = 0;
  std::string program;                 // name of the process in the kernel, made printable
  std::optional<std::string> pod_uid;  // nullopt: it belongs to no pod of this node
  bool has_library = false;            // our library is loaded; set only for processes that take no part
};

// Returns the processes on the GPUs `gpu_uuids`. Returns nullopt if the driver answers for none of them. A
// single GPU may not answer, for example because it has fallen off the bus for good. The processes in
// `before` then stand for that GPU, as far as they still run. Processes that end meanwhile, or that this
// daemon cannot see, are left out. `cgroup_root` is the kubelet's (cgroup.h).
std::optional<std::vector<GpuProcess>> FindGpuProcesses(const NvmlLibrary& nvml,
                                                        const std::vector<std::string>& gpu_uuids,
                                                        const std::string& cgroup_root,
                                                        const std::vector<GpuProcess>& before);

// Returns whether the process has loaded a file named `library`. Reads the process's memory map, which may
// be long.
bool HasLibrary(pid_t pid, const std::string& library);

}  // namespace crossover::deviceplugin
