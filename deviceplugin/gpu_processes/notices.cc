#include "deviceplugin/gpu_processes/notices.h"

#include <algorithm>
#include <utility>

#include "common/base/gpu_phrases.h"
#include "common/base/names.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kTakesNoPart[] = " uses the GPU and takes no part";

kube::Event About(const Pod& pod, std::string reason, const std::string& gpu, const std::string& why) {
  return {.regarding = {"Pod", pod.name_space, pod.name, pod.uid},
          .reason = std::move(reason),
          .action = "HoldTurns",
          .note = "no turns are taken on gpu " + gpu + ": " + why};
}

// Returns whether `pod` is a neighbour of the pod `uid`: it lives and has a slot of the same GPU.
bool IsNeighbour(const Pod& pod, const std::string& gpu, const std::string& uid, const SlotHolders& holders) {
  return !pod.over && pod.uid != uid && holders.contains({pod.uid, gpu});
}

bool HasNeighbours(const std::string& gpu, const std::string& uid, const std::vector<Pod>& pods,
                   const SlotHolders& holders) {
  return std::any_of(pods.begin(), pods.end(),
                     [&](const Pod& pod) { return IsNeighbour(pod, gpu, uid, holders); });
}

void TellNeighbours(const std::string& gpu, const std::string& culprit_uid, const Pod* culprit,
                    const std::vector<Pod>& pods, const SlotHolders& holders,
                    std::vector<kube::Event>* events) {
  for (const Pod& pod : pods) {
    if (!IsNeighbour(pod, gpu, culprit_uid, holders)) continue;
    const bool known_there = culprit != nullptr && culprit->name_space == pod.name_space;
    kube::Event event = About(pod, "NeighbourTakesNoPart", gpu,
                              (known_there ? "pod " + NameOf(*culprit) : "another job") + kTakesNoPart);
    if (std::find(events->begin(), events->end(), event) == events->end())
      events->push_back(std::move(event));
  }
}

}  // namespace

bool SharesWithNone(const Pod& pod) {
  const auto share = pod.annotations.find(base::kShareAnnotation);
  return share != pod.annotations.end() && share->second == "exclusive";
}

UnhookedNotices NoticesOf(const std::vector<GpuProcess>& unhooked, const std::vector<Pod>& pods,
                          const SlotHolders& holders, const std::function<bool(const Pod&)>& is_off) {
  // The value, by GPU and pod UID, says whether all processes of that pod on that GPU have the library.
  std::map<std::pair<std::string, std::string>, bool> culprits;
  for (const GpuProcess& gpu_process : unhooked) {
    const auto [found, is_new] =
        culprits.emplace(std::pair(gpu_process.gpu_uuid, *gpu_process.pod_uid), true);
    found->second &= gpu_process.has_library;
  }
  UnhookedNotices notices;
  for (const auto& [culprit, has_library] : culprits) {
    const auto& [gpu, uid] = culprit;
    const Pod* pod = FindPod(pods, uid);
    if (pod != nullptr && SharesWithNone(*pod) && !HasNeighbours(gpu, uid, pods, holders)) continue;
    const bool off = pod != nullptr && is_off(*pod);
    const char* why = off ? base::kSwitchedOff : has_library ? base::kLibrarySilent : base::kLibraryMissing;
    const std::string what = "pod " + (pod != nullptr ? NameOf(*pod) : uid) + kTakesNoPart + ": " + why;
    notices.held.emplace(gpu, what);
    if (pod != nullptr && !off) notices.events.push_back(About(*pod, "TakesNoPart", gpu, what));
    TellNeighbours(gpu, uid, pod, pods, holders, &notices.events);
  }
  return notices;
}

}  // namespace crossover::deviceplugin
