#include "deviceplugin/gpu_processes/gpu_process.h"

#include "common/files/read_file.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

// Returns the name with other than printable ASCII characters replaced, because a program can choose any
// name for itself.
std::string Printable(std::string name) {
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name;
}

std::vector<pid_t> PidsOf(const NvmlLibrary::ProcessMemory& processes) {
  std::vector<pid_t> pids;
  for (const auto& [pid, bytes] : processes) pids.push_back(pid);
  return pids;
}

std::vector<pid_t> PidsOn(const std::string& gpu_uuid, const std::vector<GpuProcess>& gpu_processes) {
  std::vector<pid_t> pids;
  for (const GpuProcess& gpu_process : gpu_processes) {
    if (gpu_process.gpu_uuid == gpu_uuid) pids.push_back(gpu_process.pid);
  }
  return pids;
}

}  // namespace

std::optional<std::vector<GpuProcess>> FindGpuProcesses(const NvmlLibrary& nvml,
                                                        const std::vector<std::string>& gpu_uuids,
                                                        const std::string& cgroup_root,
                                                        const std::vector<GpuProcess>& before) {
  std::vector<GpuProcess> gpu_processes;
  bool answered = gpu_uuids.empty();
  for (const std::string& uuid : gpu_uuids) {
    const auto processes = nvml.Processes(uuid);
    answered = answered || processes;
    for (const pid_t pid : processes ? PidsOf(*processes) : PidsOn(uuid, before)) {
      const auto groups = files::ReadOfProcess(pid, "cgroup");
      const auto name = files::ReadOfProcess(pid, "comm");
      if (!groups || !name) continue;
      gpu_processes.push_back({.gpu_uuid = uuid,
                               .pid = pid,
                               .program = Printable(name->substr(0, name->find('\n'))),
                               .pod_uid = PodUidOf(*groups, cgroup_root)});
    }
  }
  if (!answered) return std::nullopt;
  return gpu_processes;
}

bool HasLibrary(pid_t pid, const std::string& library) {
  const auto maps = files::ReadOfProcess(pid, "maps");
  return maps && maps->find("/" + library + "\n") != std::string::npos;
}

}  // namespace crossover::deviceplugin
