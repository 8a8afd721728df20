#include "deviceplugin/occupants/occupant.h"

#include "common/files/read_file.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

std::optional<std::string> Read(pid_t pid, const char* file) {
  std::string why;
  return files::ReadFile("/proc/" + std::to_string(pid) + "/" + file, &why);
}

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
                                                      const std::string& library,
                                                      const std::string& cgroup_root) {
  std::vector<Occupant> occupants;
  for (const std::string& uuid : gpu_uuids) {
    const auto processes = nvml.Processes(uuid);
    if (!processes) return std::nullopt;
    for (const auto& [pid, bytes] : *processes) {
      const auto groups = Read(pid, "cgroup");
      const auto name = Read(pid, "comm");
      if (!groups || !name) continue;
      Occupant occupant{.gpu_uuid = uuid,
                        .pid = pid,
                        .program = Printable(name->substr(0, name->find('\n'))),
                        .pod_uid = PodUidOf(*groups, cgroup_root)};
      const auto maps = Read(pid, "maps");
      occupant.has_library = maps && maps->find("/" + library + "\n") != std::string::npos;
      occupants.push_back(std::move(occupant));
    }
  }
  return occupants;
}

}  // namespace crossover::deviceplugin
