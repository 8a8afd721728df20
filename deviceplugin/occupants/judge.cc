#include "deviceplugin/occupants/judge.h"

#include "common/base/gpu_reasons.h"

namespace crossover::deviceplugin {

std::string OccupantJudge::Describe(const Occupant& stranger) {
  const std::string used = base::kUsedByProcess;
  if (!stranger.pod_uid) return used + " no pod";
  return used + " pod " + *stranger.pod_uid + ", which has no slot of it";
}

OccupantJudge::Verdicts OccupantJudge::Judge(const std::vector<Occupant>& occupants, const Known& known,
                                             Time now) {
  Verdicts verdicts;
  const bool first = std::exchange(first_, false);
  std::map<std::pair<pid_t, std::string>, Time> since;
  for (const Occupant& occupant : occupants) {
    if (known.mps_servers.contains(occupant.pid)) continue;
    if (occupant.pod_uid && known.own_pods.contains(*occupant.pod_uid)) continue;
    const std::pair key(occupant.pid, occupant.gpu_uuid);
    const bool ours = occupant.pod_uid && known.holders.contains({*occupant.pod_uid, occupant.gpu_uuid});
    const auto before = since_.find(key);
    const Time met = first && !ours ? now - kStranger : now;
    const Time for_so_long =
        now - since.emplace(key, before == since_.end() ? met : before->second).first->second;
    if (!ours && for_so_long >= kStranger) verdicts.strangers.emplace(occupant.gpu_uuid, occupant);
    if (known.clients.contains({occupant.pid, occupant.gpu_uuid})) continue;
    verdicts.unheard.push_back(occupant);
    if (ours && for_so_long >= kUnheard) verdicts.unhooked.push_back(occupant);
  }
  since_ = std::move(since);
  return verdicts;
}

}  // namespace crossover::deviceplugin
