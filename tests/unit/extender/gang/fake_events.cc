// Makes things happen in the fake cluster.
#include <algorithm>
#include <utility>

#include "common/base/names.h"
#include "tests/unit/extender/gang/fake_cluster.h"
#include "tests/unit/extender/gang/made_profile.h"

namespace crossover::extender {

int FakeCluster::Job::need() const {
  return std::clamp(completions - static_cast<int>(done.size()), 0, size);
}

void FakeCluster::AddPod(const std::string& job, int index) {
  const Job& spec = jobs_.at(job);
  Truth truth;
  truth.gang = job + "/" + std::to_string(spec.attempt);
  truth.index = index;
  Pod& pod = truth.pod;
  pod.uid = "u" + std::to_string(uids_++);
  pod.name_space = "team";
  // The object of a pod that failed may still be there, with the name.
  const bool first = std::ranges::none_of(pods_, [&](const auto& entry) {
    return entry.second.gang == truth.gang && entry.second.index == index;
  });
  pod.name = job + "-" + std::to_string(spec.attempt) +
             (first ? "" : "-r" + std::to_string(replacements_++)) + "-" + std::to_string(index);
  pod.created_s = now_s_;
  pod.gates = {base::kGangGate};
  pod.scheduler = base::kSchedulerName;
  if (spec.names_memory) pod.annotations = {{base::kGpuMemoryAnnotation, "10Gi"}};
  pod.profile_key = "k";
  if (spec.elastic) {
    pod.labels = {{"batch.kubernetes.io/job-name", job},
                  {"batch.kubernetes.io/controller-uid", std::to_string(spec.attempt)},
                  {"batch.kubernetes.io/job-completion-index", std::to_string(index)}};
  } else if (spec.size > 1) {
    pod.annotations[base::kGangAnnotation] = truth.gang;
    pod.annotations[base::kGangSizeAnnotation] = std::to_string(spec.size);
    pod.owner = Owner{"team.dev/v1", "Train", job, "uid-of-" + truth.gang};
  }
  pod.labels["app"] = job;
  pod.priority = spec.rank + (spec.launches && index == 0 ? 1000 : 0);
  pod.preempts = spec.preempts || index < spec.size - 1;
  Container container;
  container.name = "main";
  container.slots = spec.gpus;
  pod.containers.push_back(container);
  Truth& kept = pods_[pod.uid] = std::move(truth);
  Changed(kept);
}

// Returns how many pods a job may have so that it can be placed if it has the whole cluster to itself: 4 at
// most.
int FakeCluster::MostPods(int gpus_per_pod) const {
  const int nodes = static_cast<int>(gpu_nodes_.size());
  const int on_node = static_cast<int>(gpu_nodes_.begin()->second.gpus.size());
  return std::clamp(nodes * (on_node / gpus_per_pod), 1, 4);
}

void FakeCluster::Submit() {
  if (jobs_.size() > 4) return;
  const std::string name = "job" + std::to_string(jobs_made_++);
  Job job;
  job.gpus = gpu_nodes_.begin()->second.gpus.size() > 1 && Chance(20) ? 2 : 1;
  job.size = 1 + Random(MostPods(job.gpus));
  job.elastic = Chance(40);
  job.completions = job.size + (job.elastic && Chance(30) ? 1 + Random(4) : 0);
  job.names_memory = Chance(70);
  job.rank = 100 * Random(3);
  job.launches = job.size > 1 && Chance(20);
  job.preempts = Chance(80);
  job.stubborn = Chance(20) ? Random(job.size) : -1;
  jobs_[name] = job;
  if (Chance(80)) {
    Budget budget{.name_space = "team", .name = name, .selector = {}, .allowed = Random(job.size + 1)};
    budget.selector.nothing = false;
    budget.selector.labels = {{"app", name}};
    limits_[name].budget = budget;
    sabotage_.budget(budget);
    cache_->Put(budget);
  }
  for (int i = 0; i < job.size; ++i) AddPod(name, i);
}

void FakeCluster::Remove(const std::string& uid) {
  const auto found = pods_.find(uid);
  const std::string node = found->second.pod.node;
  pods_.erase(found);
  pod_events_.emplace_back(uid, std::nullopt);
  if (!node.empty()) PublishGpus(node);
}

// Ends a whole job, and may begin another attempt of it.
void FakeCluster::EndJob() {
  if (jobs_.empty()) return;
  auto job = jobs_.begin();
  std::advance(job, Random(static_cast<int>(jobs_.size())));
  for (auto& [uid, truth] : pods_) {
    if (!truth.gang.starts_with(job->first + "/") || truth.pod.deleting) continue;
    truth.pod.deleting = true;
    Changed(truth);
  }
  if (Chance(70)) {
    jobs_.erase(job);
    return;
  }
  ++job->second.attempt;
  job->second.resized = false;
  job->second.half_since_s = -1;
  job->second.whole = job->second.suspended = false;
  job->second.bound.clear();
  job->second.done.clear();
  for (int i = 0; i < job->second.size; ++i) AddPod(job->first, i);
}

// Changes the size of a job. Pods past its new size are deleted, and missing pods are made like lost ones
// (Finish).
void FakeCluster::Resize() {
  if (jobs_.empty()) return;
  auto chosen = jobs_.begin();
  std::advance(chosen, Random(static_cast<int>(jobs_.size())));
  auto& [name, job] = *chosen;
  if (!job.elastic || job.completions != job.size || !job.done.empty() || job.suspended) return;
  const auto bound = static_cast<int>(job.bound.size());
  const int before = std::exchange(job.size, 1 + Random(MostPods(job.gpus)));
  const std::string gang = name + "/" + std::to_string(job.attempt);
  job.completions = job.size;
  for (int i = job.size; i < before; ++i) job.bound.erase(i);
  for (auto& [uid, truth] : pods_) {
    if (truth.gang != gang || truth.index < job.size || truth.pod.deleting) continue;
    truth.pod.deleting = true;
    Changed(truth);
  }
  job.resized = true;
  Remember(gang + " has " + std::to_string(job.size) + " pods now, " + std::to_string(before) + " before");
  // A job that has grown, or that once had as many bound pods as it has now, may have been whole as far as
  // the extender could know.
  job.whole |= job.size > before || bound >= job.size;
}

// Lets a pod of a job that runs succeed. The job ends with its last pod.
void FakeCluster::Succeed() {
  std::vector<std::pair<Truth*, std::string>> running;  // with the names of their jobs
  for (auto& [uid, truth] : pods_) {
    if (truth.pod.node.empty() || truth.pod.deleting || truth.pod.over) continue;
    for (const auto& [name, job] : jobs_) {
      const bool its = truth.gang == name + "/" + std::to_string(job.attempt);
      if (its && job.whole && !job.resized) running.emplace_back(&truth, name);
    }
  }
  if (running.empty()) return;
  auto& [truth, name] = running[static_cast<std::size_t>(Random(static_cast<int>(running.size())))];
  truth->pod.over = true;
  Changed(*truth);
  PublishGpus(truth->pod.node);
  Job& job = jobs_.at(name);
  job.done.insert(truth->index);
  if (job.need() == 0) {
    jobs_.erase(name);
  } else if (Chance(50)) {
    Suspend(name);
  }
}

// Suspends a job, or resumes it. A job that is suspended loses its pods. It comes back as a gang of those
// that have not succeeded.
void FakeCluster::Suspend(const std::string& name) {
  Job& job = jobs_.at(name);
  const std::string gang = name + "/" + std::to_string(job.attempt);
  Remember(gang + (job.suspended ? " is resumed" : " is suspended"));
  if (std::exchange(job.suspended, !job.suspended)) return;
  job.whole = false;
  job.half_since_s = -1;
  job.bound.clear();
  for (auto& [uid, truth] : pods_) {
    if (truth.gang != gang || truth.pod.deleting || truth.pod.over) continue;
    truth.pod.deleting = true;
    Changed(truth);
  }
}

// Evicts a pod, or lets it fail. The object of a failed pod stays for a while.
void FakeCluster::LosePod() {
  if (pods_.empty()) return;
  auto pod = pods_.begin();
  std::advance(pod, Random(static_cast<int>(pods_.size())));
  Truth& truth = pod->second;
  if (truth.pod.deleting || truth.pod.over) return;
  if (!truth.pod.node.empty() && Chance(50)) {
    truth.pod.over = true;
    truth.pod.failed = true;
    Changed(truth);
    return PublishGpus(truth.pod.node);
  }
  truth.pod.deleting = true;
  Changed(truth);
}

// Lets all pods of a job fail together. Their objects stay for a while.
void FakeCluster::Crash() {
  if (jobs_.empty()) return;
  auto job = jobs_.begin();
  std::advance(job, Random(static_cast<int>(jobs_.size())));
  const std::string gang = job->first + "/" + std::to_string(job->second.attempt);
  for (auto& [uid, truth] : pods_) {
    Pod& pod = truth.pod;
    if (truth.gang != gang || pod.node.empty() || pod.deleting || pod.over) continue;
    pod.over = pod.failed = true;
    Changed(truth);
    PublishGpus(pod.node);
  }
}

// Changes or removes the profile of all jobs.
void FakeCluster::Learn() {
  if (profile_ && Chance(20)) {
    profile_.reset();
    cache_->RemoveProfile("team", "k");
  } else {
    profile_ = MadeProfile("k", std::uint64_t{5} << (30 + Random(3)));
    cache_->Put(*profile_);
  }
  gangs_->ClusterChanged();
}

// Lets another program use up a budget, or its controller renew it.
void FakeCluster::ChangeBudget() {
  if (limits_.empty()) return;
  auto limit = limits_.begin();
  std::advance(limit, Random(static_cast<int>(limits_.size())));
  limit->second.changed_s = now_s_;
  limit->second.budget.allowed = Random(5);
  budget_events_.push_back(limit->second.budget);
}

bool FakeCluster::IsThere(const std::string& gang, int index) const {
  return std::ranges::any_of(pods_, [&](const auto& entry) {
    const Truth& truth = entry.second;
    return truth.gang == gang && truth.index == index && !truth.pod.over;
  });
}

// The pods that succeeded tell how much is left of a gang whose owner does not say it, so they stay.
bool FakeCluster::MayBeRemoved(const Truth& truth) const {
  return std::ranges::none_of(jobs_, [&](const auto& entry) {
    const auto& [name, job] = entry;
    return truth.gang == name + "/" + std::to_string(job.attempt) && !job.elastic &&
           job.done.contains(truth.index);
  });
}

// Removes pods that are being deleted and pods that are over, not all at once. The job controller makes
// others.
void FakeCluster::Finish() {
  std::vector<std::string> going;
  for (const auto& [uid, truth] : pods_) {
    const bool goes = (truth.pod.deleting && (calm_ || Chance(50))) || (truth.pod.over && Chance(10));
    if (goes && MayBeRemoved(truth)) going.push_back(uid);
  }
  for (const std::string& uid : going) Remove(uid);
  for (const auto& [name, job] : jobs_) {
    const std::string gang = name + "/" + std::to_string(job.attempt);
    int active = job.suspended ? job.size : 0;
    for (int i = 0; i < job.completions && active < job.size; ++i) {
      if (job.done.contains(i)) continue;
      ++active;
      if (!IsThere(gang, i) && (calm_ || Chance(50))) AddPod(name, i);
    }
  }
}

// Schedules one pod: filter, then bind.
void FakeCluster::Schedule() {
  std::vector<std::string> uids;
  for (const auto& [uid, truth] : pods_) {
    if (truth.pod.node.empty() && truth.pod.gates.empty() && !truth.pod.deleting && !assumed_.contains(uid)) {
      uids.push_back(uid);
    }
  }
  if (uids.empty()) return;
  const std::string uid = uids[static_cast<std::size_t>(Random(static_cast<int>(uids.size())))];
  std::vector<std::string_view> nodes;
  for (const auto& [name, node] : nodes_) {
    if (node.ready && !node.cordoned && (calm_ || Chance(95))) nodes.push_back(name);
  }
  // The scheduler may find that none of its nodes has room. It then asks no extender, and does not repeat
  // its message.
  Truth& truth = pods_[uid];
  if (!calm_ && Chance(3)) {
    const Scheduled said{.reason = "Unschedulable",
                         .message = "0/3 nodes are available: 3 Insufficient cpu."};
    if (std::exchange(truth.pod.scheduled, said).message != said.message) Changed(truth);
    return;
  }
  const PodRef ref{.uid = uid, .name_space = "team", .name = truth.pod.name, .nominated = truth.nominated};
  std::optional<FilterAnswer> answer;
  if (const auto first = std::ranges::find(nodes, ref.nominated); first != nodes.end())
    answer = gangs_->Filter(ref, std::span(first, 1), now_s_);
  if (!answer || answer->nodes.empty()) answer = gangs_->Filter(ref, nodes, now_s_);
  if (!answer) return;
  if (answer->nodes.empty()) {
    truth.pod.scheduled = {.reason = "Unschedulable", .message = answer->others};
    if (Chance(50)) truth.nominated.clear();
    return Changed(truth);
  }
  if (answer->nodes.size() > 1) return Note("filter names several nodes");
  const BindHandle bind_handle = bind_handles_++;
  held_[bind_handle] = {uid, answer->nodes.front()};
  assumed_.insert(uid);
  gangs_->Bind(ref, answer->nodes.front(), bind_handle, now_s_);
}

void FakeCluster::LoseNode() {
  auto node = nodes_.begin();
  std::advance(node, Random(static_cast<int>(nodes_.size())));
  Node& lost = node->second;
  Chance(50) ? lost.ready = false : lost.cordoned = true;
  if (!lost.ready && nodes_.size() > 1 && gone_.empty() && Chance(50)) gone_ = lost.name;
  node_events_.push_back(lost);
  if (lost.ready) return;
  for (auto& [uid, truth] : pods_) {
    if (truth.pod.node != lost.name || truth.pod.deleting) continue;
    truth.pod.deleting = true;
    Changed(truth);
  }
}

void FakeCluster::Repair() {
  for (auto& [name, node] : nodes_) {
    if ((node.ready && !node.cordoned) || name == gone_) continue;
    node.ready = true;
    node.cordoned = false;
    node_events_.push_back(node);
    if (!calm_) return;
  }
}

// Lets a kubelet give a pod other GPUs than it was assigned.
void FakeCluster::Stray() {
  for (auto& [uid, truth] : pods_) {
    if (truth.pod.node.empty() || truth.strayed || truth.actual.size() != 1) continue;
    const auto& gpus = gpu_nodes_[truth.pod.node].gpus;
    const std::string other = gpus[static_cast<std::size_t>(Random(static_cast<int>(gpus.size())))].uuid;
    if (other == truth.actual.front()) return;
    truth.strayed = true;
    truth.actual = {other};
    return PublishGpus(truth.pod.node);
  }
}

void FakeCluster::Step() {
  now_s_ += 0.1 * Random(8);
  const int what = Random(100);
  if (what < 8)
    Submit();
  else if (what < 40)
    Schedule();
  else if (what < 65)
    Deliver(false);
  else if (what < 75)
    Finish();
  else if (what < 78)
    EndJob();
  else if (what < 81)
    LosePod();
  else if (what < 82)
    LoseNode();
  else if (what < 85)
    Repair();
  else if (what < 86)
    Stray();
  else if (what < 88)
    Restart();
  else if (what < 90)
    now_s_ += Random(15);
  else if (what < 92)
    Resize();
  else if (what < 93)
    Crash();
  else if (what < 95)
    Learn();
  else if (what < 98)
    Succeed();
  else if (what < 99)
    ChangeBudget();
  else if (Chance(50) && !jobs_.empty())
    Suspend(std::next(jobs_.begin(), Random(static_cast<int>(jobs_.size())))->first);
  else
    Deliver(true);
  Drive();
  JudgeTime();
}

void FakeCluster::Settle() {
  calm_ = true;
  calm_s_ = now_s_;
  for (auto& [name, job] : jobs_) job.suspended = false;
  for (auto& [name, limit] : limits_) {
    limit.budget.allowed = 1000;
    budget_events_.push_back(limit.budget);
  }
  // The node's daemon evicts strayed pods.
  for (auto& [uid, truth] : pods_) {
    if (!truth.strayed) continue;
    truth.pod.deleting = true;
    Changed(truth);
  }
  for (int round = 0; round < 600 && fault_.empty(); ++round) {
    now_s_ += 0.5;
    Repair();
    Finish();
    Deliver(true);
    for (int i = 0; i < 4; ++i) Schedule();
    Drive();
    Deliver(true);
    JudgeTime();
  }
  JudgeEnd();
}

}  // namespace crossover::extender
