#include "deviceplugin/occupants/occupant.h"

#include "common/files/read_file.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

// Programs name themselves.
std::string Printable(std::string name) {
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name;
}

}  // namespace

std::optional<std::vector<Occupant>> LookForOccupants(const NvmlLibrary& nvml,
                                                      const std::vector<std::string>& gpu_uuids,
                                                      const std::string& cgroup_root) {
  std::vector<Occupant> occupants;
  for (const std::string& uuid : gpu_uuids) {
    const auto processes = nvml.Processes(uuid);
    if (!processes) return std::nullopt;
    for (const auto& [pid, bytes] : *processes) {
      const auto groups = files::ReadOfProcess(pid, "cgroup");
      const auto name = files::ReadOfProcess(pid, "comm");
      if (!groups || !name) continue;
      occupants.push_back({.gpu_uuid = uuid,
                           .pid = pid,
                           .program = Printable(name->substr(0, name->find('\n'))),
                           .pod_uid = PodUidOf(*groups, cgroup_root)});
    }
  }
  return occupants;
}

bool HasLibrary(pid_t pid, const std::string& library) {
  const auto maps = files::ReadOfProcess(pid, "maps");
  return maps && maps->find("/" + library + "\n") != std::string::npos;
}

}  // namespace crossover::deviceplugin
