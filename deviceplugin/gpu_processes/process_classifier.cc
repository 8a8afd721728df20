#include "deviceplugin/gpu_processes/process_classifier.h"

#include "common/base/gpu_phrases.h"

namespace crossover::deviceplugin {

std::string ProcessClassifier::Describe(const GpuProcess& stranger) {
  const std::string used = base::kUsedByProcess;
  if (!stranger.pod_uid) return used + " no pod";
  return used + " pod " + *stranger.pod_uid + ", which has no slot of it";
}

ProcessClassifier::Verdicts ProcessClassifier::Judge(const std::vector<GpuProcess>& gpu_processes,
                                                     const Known& known, Time now) {
  Verdicts verdicts;
  const bool first = std::exchange(first_, false);
  std::map<std::pair<pid_t, std::string>, Time> since;
  for (const GpuProcess& gpu_process : gpu_processes) {
    if (known.mps_servers.contains(gpu_process.pid)) continue;
    if (gpu_process.pod_uid && known.own_pods.contains(*gpu_process.pod_uid)) continue;
    const std::pair key(gpu_process.pid, gpu_process.gpu_uuid);
    const bool ours =
        gpu_process.pod_uid && known.holders.contains({*gpu_process.pod_uid, gpu_process.gpu_uuid});
    const auto before = since_.find(key);
    const Time met = first && !ours ? now - kStranger : now;
    const Time for_so_long =
        now - since.emplace(key, before == since_.end() ? met : before->second).first->second;
    if (!ours && for_so_long >= kStranger) verdicts.strangers.emplace(gpu_process.gpu_uuid, gpu_process);
    if (known.clients.contains({gpu_process.pid, gpu_process.gpu_uuid})) continue;
    verdicts.unregistered.push_back(gpu_process);
    if (ours && for_so_long >= kUnregistered) verdicts.unhooked.push_back(gpu_process);
  }
  since_ = std::move(since);
  return verdicts;
}

}  // namespace crossover::deviceplugin
