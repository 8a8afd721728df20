#include "deviceplugin/occupants/judge.h"

namespace crossover::deviceplugin {
namespace {

std::string Describe(const Occupant& occupant) {
  return occupant.program + " (pid " + std::to_string(occupant.pid) +
         (occupant.pod_uid ? ", of pod " + *occupant.pod_uid + ", which has no slot of it" : ", of no pod") +
         ")";
}

}  // namespace

OccupantJudge::Verdicts OccupantJudge::Judge(const std::vector<Occupant>& occupants, const Known& known,
                                             Time now) {
  Verdicts verdicts;
  std::map<std::pair<pid_t, std::string>, Time> since;
  for (const Occupant& occupant : occupants) {
    const std::pair key(occupant.pid, occupant.gpu_uuid);
    const auto before = since_.find(key);
    const Time for_so_long =
        now - since.emplace(key, before == since_.end() ? now : before->second).first->second;
    if (known.mps_servers.contains(occupant.pid)) continue;
    const bool ours = occupant.pod_uid && known.holders.contains({*occupant.pod_uid, occupant.gpu_uuid});
    if (!ours && for_so_long >= kStranger) verdicts.strangers.emplace(occupant.gpu_uuid, Describe(occupant));
    if (ours && for_so_long >= kUnheard && !known.clients.contains({occupant.pid, occupant.gpu_uuid}))
      verdicts.unhooked.push_back(occupant);
  }
  since_ = std::move(since);
  return verdicts;
}

}  // namespace crossover::deviceplugin
