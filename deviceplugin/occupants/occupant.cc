#include "deviceplugin/occupants/occupant.h"

#include "common/files/read_file.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

std::optional<std::string> Read(pid_t pid, const char* file) {
  std::string why;
  return files::ReadFile("/proc/" + std::to_string(pid) + "/" + file, &why);
}

}  // namespace

std::vector<Occupant> LookForOccupants(const NvmlLibrary& nvml, const std::vector<std::string>& gpu_uuids,
                                       const std::string& library) {
  std::vector<Occupant> occupants;
  for (const std::string& uuid : gpu_uuids) {
    const auto processes = nvml.Processes(uuid);
    if (!processes) continue;
    for (const auto& [pid, bytes] : *processes) {
      const auto groups = Read(pid, "cgroup");
      const auto name = Read(pid, "comm");
      if (!groups || !name) continue;
      Occupant occupant{.gpu_uuid = uuid,
                        .pid = pid,
                        .program = name->substr(0, name->find('\n')),
                        .pod_uid = PodUidOf(*groups)};
      const auto maps = Read(pid, "maps");
      occupant.has_library = maps && maps->find("/" + library + "\n") != std::string::npos;
      occupants.push_back(std::move(occupant));
    }
  }
  return occupants;
}

}  // namespace crossover::deviceplugin
