// Finds what must never happen, from the truth alone.
#include <algorithm>

#include "common/base/names.h"
#include "tests/unit/extender/gang/fake_cluster.h"

namespace crossover::extender {

// Judges a pod when it is bound, by what it and the others were assigned. The extender is not blamed for
// what kubelets did on their own: GPUs of pods that strayed are left out.
void FakeCluster::JudgeBinding(const Truth& truth) {
  std::set<std::string> strayed;
  for (const auto& [uid, other] : pods_) {
    if (!other.strayed) continue;
    strayed.insert(other.actual.begin(), other.actual.end());
    const auto assigned =
        PodSeat{"", ReadAssignment(other.pod.annotations.at(base::kAssignmentAnnotation))}.gpus();
    strayed.insert(assigned.begin(), assigned.end());
  }
  const Job* job = nullptr;
  for (const auto& [name, candidate] : jobs_) {
    if (truth.gang.starts_with(name + "/")) job = &candidate;
  }
  if (job != nullptr && static_cast<int>(truth.actual.size()) != job->gpus)
    Note("it got another number of GPUs");
  for (const std::string& gpu : truth.actual) {
    const auto& gpus = gpu_nodes_[truth.pod.node].gpus;
    if (std::ranges::find(gpus, gpu, &GpuNode::Gpu::uuid) == gpus.end()) Note("a GPU of another node");
    if (strayed.contains(gpu)) continue;
    JudgeSeats(truth, gpu);
    int clients = 0;
    for (const auto& [uid, other] : pods_) {
      if (other.pod.node != truth.pod.node || other.pod.over) continue;
      if (std::ranges::find(other.actual, gpu) == other.actual.end()) continue;
      ++clients;
      if (uid != truth.pod.uid && other.gang == truth.gang) Note("two ranks of a gang on one GPU");
      if (other.gang != truth.gang) JudgeBeside(truth, other);
    }
    if (clients > 2) Note("more clients than slots");
  }
}

// Two pods on one GPU must both have a bound on their memory, or one could take all of it.
void FakeCluster::JudgeBeside(const Truth& truth, const Truth& other) {
  ++shared_;
  for (const Pod* pod : {&truth.pod, &other.pod}) {
    const Labels& says = pod->annotations;
    if (!says.contains(base::kGpuMemoryAnnotation) && !says.contains(base::kGrantedMemoryAnnotation))
      Note("beside another without a bound of its memory");
  }
}

// Marks the pods of gangs that were bound whole for so long that the extender has to know it. The extender
// may never delete these pods. Steps in which the watch has not told of one of the pods do not count.
void FakeCluster::NoteWhoRuns() {
  constexpr int kLong = 20;  // steps
  std::set<std::string> untold;
  for (const auto& [uid, pod] : pod_events_) untold.insert(uid);
  for (auto& [name, job] : jobs_) {
    const std::string gang = name + "/" + std::to_string(job.attempt);
    std::vector<Truth*> bound;
    for (auto& [uid, truth] : pods_) {
      const Pod& pod = truth.pod;
      if (truth.gang == gang && !pod.node.empty() && !pod.deleting && !pod.over) bound.push_back(&truth);
    }
    const bool whole = !job.suspended && static_cast<int>(bound.size()) >= job.need();
    const bool told =
        std::ranges::none_of(bound, [&](const Truth* truth) { return untold.contains(truth->pod.uid); });
    job.whole_for = whole ? job.whole_for + (told ? 1 : 0) : 0;
    if (job.whole_for < kLong) continue;
    for (Truth* truth : bound) truth->settled = true;
  }
}

void FakeCluster::JudgeTime() {
  NoteWhoRuns();
  FollowPromises();
  JudgeHalves();
  // A half gang has some pods that are bound and others that never were. It may last for a deadline and the
  // time that it takes to end it. It is judged only in the calm part, in which nothing fails.
  std::map<std::string, std::set<std::string>> sets;
  std::set<std::string> disturbed;
  for (auto& [name, job] : jobs_) {
    const std::string gang = name + "/" + std::to_string(job.attempt);
    if (job.resized || !job.done.empty()) disturbed.insert(gang);
    int bound = 0;
    for (const auto& [uid, truth] : pods_) {
      if (truth.gang != gang || truth.pod.over) continue;
      bound += truth.pod.node.empty() ? 0 : 1;
      if (truth.pod.node.empty() || truth.strayed || truth.pod.deleting) disturbed.insert(gang);
      for (const std::string& gpu : truth.actual) sets[gang].insert(truth.pod.node + "/" + gpu);
    }
    if (job.whole || bound == 0 || !calm_) {
      job.half_since_s = -1;
    } else if (job.half_since_s < 0) {
      job.half_since_s = now_s_;
    } else if (now_s_ > job.half_since_s + 3 * QuickSettings().deadline_s + 30) {
      Note("a half gang past its deadline");
    }
  }
  // Two whole gangs have one set of GPUs, or no GPU in common.
  for (const auto& [a, first] : sets) {
    for (const auto& [b, second] : sets) {
      if (a >= b || disturbed.contains(a) || disturbed.contains(b) || first == second) continue;
      const bool meet =
          std::ranges::any_of(first, [&its = second](const std::string& gpu) { return its.contains(gpu); });
      if (meet && calm_) Note("sets that are not identical meet");
    }
  }
}

std::string FakeCluster::Describe() const {
  std::string text = history_;
  for (const auto& [uid, truth] : pods_) {
    text += uid + " " + truth.pod.name + (truth.strayed ? " strayed" : "") + " on " + truth.pod.node;
    for (const std::string& gpu : truth.actual) text += " " + gpu;
    for (const auto& [key, value] : truth.pod.annotations) text += " " + key + "=" + value;
    text += (truth.pod.gates.empty() ? "" : " gated") + std::string(truth.pod.deleting ? " deleting" : "") +
            ": " + gangs_->WhyWaits(uid) + "\n";
  }
  return text;
}

// Returns whether every gang on the GPUs of `gang`, itself included, lacks pods and was not resized.
bool FakeCluster::WaitForEachOther(const std::string& gang) const {
  std::map<std::string, std::set<std::string>> gpus;  // by gang
  std::map<std::string, int> bound;
  for (const auto& [uid, truth] : pods_) {
    if (truth.pod.over) continue;
    gpus[truth.gang].insert(truth.actual.begin(), truth.actual.end());
    bound[truth.gang] += truth.pod.node.empty() ? 0 : 1;
  }
  return std::ranges::all_of(jobs_, [&](const auto& entry) {
    const auto& [name, job] = entry;
    const std::string other = name + "/" + std::to_string(job.attempt);
    const auto shared = [&](const std::string& gpu) { return gpus[other].contains(gpu); };
    return std::ranges::none_of(gpus[gang], shared) || (bound[other] < job.need() && !job.resized);
  });
}

void FakeCluster::JudgeEnd() {
  if (!held_.empty()) Note("a bind is held for ever");
  std::map<std::string, int> used;
  for (const auto& [uid, truth] : pods_) {
    if (truth.pod.over) continue;
    for (const std::string& gpu : truth.actual) ++used[gpu];
  }
  int free = 0;
  for (const auto& [name, node] : gpu_nodes_) {
    if (name == gone_) continue;
    for (const GpuNode::Gpu& gpu : node.gpus) free += used[gpu.uuid] == 0 ? 1 : 0;
  }
  for (const auto& [name, job] : jobs_) {
    const std::string gang = name + "/" + std::to_string(job.attempt);
    int bound = 0;
    bool reserved = false, meets = false;
    for (const auto& [uid, truth] : pods_) {
      if (truth.gang != gang || truth.pod.over) continue;
      bound += truth.pod.node.empty() ? 0 : 1;
      meets |= std::ranges::any_of(truth.actual, [&](const std::string& gpu) { return used[gpu] > 1; });
      reserved |= truth.pod.node.empty() && truth.pod.annotations.contains(base::kReservationAnnotation);
      const bool waits = truth.pod.node.empty() && gangs_->WhyWaits(uid).empty();
      if (waits) Note("it waits without a reason");
    }
    if (bound == job.need()) continue;
    if (bound > 0 && !job.whole) Note("half a gang in the end");
    if (reserved) Note("a reservation is left over");
    // A gang with one GPU per pod fits on any free GPUs.
    if (bound == 0 && job.gpus == 1 && free >= job.need()) Note("there is room, and it is not placed");
    const bool room = bound > 0 && job.gpus == 1 && free >= job.need() - bound;
    if (room && meets && WaitForEachOther(gang)) Note("those that share wait for each other");
    if (bound > 0 && job.gpus == 1 && free > 0 && !meets) Note("there is room, and it is not made whole");
  }
  JudgeRanks();
}

}  // namespace crossover::extender
