#include "deviceplugin/sharing/outside_mps.h"

#include "common/base/names.h"
#include "deviceplugin/pods/slot_uuid.h"

namespace crossover::deviceplugin {

std::map<std::string, std::string> FindOutsideMps(const std::vector<Pod>& pods,
                                                  const std::vector<HandedOut>& handed_out) {
  std::map<std::string, std::string> outside;
  for (const HandedOut& entry : handed_out) {
    const Pod* pod = FindPod(pods, entry.pod_uid);
    if (pod == nullptr || pod->over || entry.answer.find(base::kMpsDirectory) != std::string::npos) continue;
    for (const std::string& id : entry.ids)
      outside.emplace(UuidOfSlot(id), "pod " + NameOf(*pod) + " is on it, which came before MPS");
  }
  return outside;
}

}  // namespace crossover::deviceplugin
