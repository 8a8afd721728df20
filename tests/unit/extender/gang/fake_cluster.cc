#include "tests/unit/extender/gang/fake_cluster.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "extender/gang/made_room.h"

namespace crossover::extender {

GangSettings QuickSettings() {
  GangSettings settings;
  settings.deadline_s = 20;
  settings.hold_s = 8;
  settings.ungate_after_s = 40;
  settings.hold_off_s = 1;
  settings.most_hold_off_s = 8;
  settings.exclude_s = 5;
  settings.most_exclude_s = 20;
  settings.settle_s = 10;
  settings.owner_every_s = 1;
  settings.seats_kept_s = 20;
  settings.spare_s = 15;
  settings.retry_evict_s = 2;
  settings.most_retry_evict_s = 8;
  return settings;
}

FakeCluster::FakeCluster(std::uint64_t seed, Sabotage sabotage)
    : random_(seed), sabotage_(std::move(sabotage)) {
  const int nodes = 1 + Random(3);
  const int gpus = 1 + Random(3);
  for (int n = 0; n < nodes; ++n) {
    Node node;
    node.name = "n" + std::to_string(n);
    node.ready = true;
    GpuNode daemon;
    daemon.name = node.name;
    for (int g = 0; g < gpus; ++g) {
      GpuNode::Gpu gpu;
      gpu.uuid = "GPU-" + std::to_string(n) + std::to_string(g);
      gpu.memory = std::uint64_t{80} << 30;
      gpu.slots = 2;
      gpu.healthy = true;
      daemon.gpus.push_back(gpu);
    }
    nodes_[node.name] = node;
    gpu_nodes_[node.name] = daemon;
  }
  Restart();
  restarts_ = 0;
}

void FakeCluster::Note(const std::string& fault) {
  if (fault_.empty()) fault_ = fault;
}

void FakeCluster::Remember(const std::string& what) {
  char time[32];
  std::snprintf(time, sizeof(time), "%.1f ", now_s_);
  history_ += time + what + "\n";
}

void FakeCluster::Changed(Truth& truth) {
  if (truth.pod.over && truth.over_s == 0) truth.over_s = now_s_;
  const Pod& pod = truth.pod;
  const auto reserved = pod.annotations.find(base::kReservationAnnotation);
  Remember(pod.uid + " " + pod.name + (pod.node.empty() ? "" : " on " + pod.node) +
           (pod.over ? " over" : "") + (pod.deleting ? " deleting" : "") +
           (pod.gates.empty() ? "" : " gated") +
           (reserved == pod.annotations.end() ? "" : " " + reserved->second));
  truth.pod.version = std::to_string(versions_++);
  pod_events_.emplace_back(truth.pod.uid, truth.pod);
  if (Chance(10)) pod_events_.emplace_back(truth.pod.uid, truth.pod);  // an event may come twice
}

void FakeCluster::Deliver(bool all) {
  do {
    if (!pod_events_.empty()) {
      auto [uid, pod] = std::move(pod_events_.front());
      pod_events_.pop_front();
      if (pod) {
        sabotage_.view(*pod);
        cache_->Put(std::move(*pod));
      } else {
        cache_->RemovePod(uid);
      }
      gangs_->PodChanged(uid, now_s_);
    }
    if (!gpu_events_.empty() && (all || Chance(60))) {
      sabotage_.gpus(gpu_events_.front());
      cache_->Put(std::move(gpu_events_.front()));
      gpu_events_.pop_front();
      gangs_->ClusterChanged();
    }
    if (!node_events_.empty() && (all || Chance(60))) {
      cache_->Put(std::move(node_events_.front()));
      node_events_.pop_front();
      gangs_->ClusterChanged();
    }
    if (!budget_events_.empty() && (all || Chance(60))) {
      sabotage_.budget(budget_events_.front());
      cache_->Put(std::move(budget_events_.front()));
      budget_events_.pop_front();
      gangs_->ClusterChanged();
    }
  } while (all &&
           !(pod_events_.empty() && gpu_events_.empty() && node_events_.empty() && budget_events_.empty()));
}

// Starts a new extender. Writes that were on their way are carried out or lost, and the watches begin with
// the truth.
void FakeCluster::Restart() {
  ++restarts_;
  restarted_s_ = now_s_;
  Remember("restart");
  for (const auto& [id, promise] : promises_) taken_over_ += promise.whole && promise.over_s < 0 ? 1 : 0;
  for (auto& [name, job] : jobs_) job.whole_for = 0;
  for (const Action& action : writes_) {
    if (Chance(50)) Write(action);
  }
  writes_.clear();
  for (const auto& [bind_handle, asked] : held_) assumed_.erase(asked.uid);
  held_.clear();
  pod_events_.clear();
  gpu_events_.clear();
  node_events_.clear();
  budget_events_.clear();
  cache_ = std::make_unique<ClusterCache>();
  for (const auto& [name, node] : nodes_) cache_->Put(node);
  for (auto [name, node] : gpu_nodes_) {
    sabotage_.gpus(node);
    cache_->Put(node);
  }
  for (auto [name, limit] : limits_) {
    sabotage_.budget(limit.budget);
    cache_->Put(limit.budget);
  }
  if (profile_) cache_->Put(*profile_);
  for (const auto& [uid, truth] : pods_) {
    Pod pod = truth.pod;
    sabotage_.view(pod);
    cache_->Put(pod);
  }
  gangs_ = std::make_unique<Gangs>(*cache_, QuickSettings(), nullptr, "epoch" + std::to_string(epochs_++));
}

void FakeCluster::Drive() {
  for (Action& action : gangs_->Step(now_s_)) {
    sabotage_.action(action);
    if (action.kind == Action::Kind::kAnswer) {
      const auto asked = held_.find(action.bind_handle);
      if (asked == held_.end()) {
        Note("a bind is answered twice");
        continue;
      }
      assumed_.erase(asked->second.uid);
      const auto truth = pods_.find(asked->second.uid);
      const bool bound = truth != pods_.end() && !truth->second.pod.node.empty();
      if (truth != pods_.end() && !bound) truth->second.nominated.clear();
      if (action.text.empty() && truth != pods_.end() && !bound)
        Note("a bind is said to be done, and is not");
      held_.erase(asked);
    } else if (action.id != 0 && !sabotage_.drop(action)) {
      writes_.push_back(action);
    }
  }
  for (const auto& [id, gang] : gangs_->store().gangs) {
    if (!gang.removal.why.empty()) kept_.insert(id);
  }
  // Writes of different pods may overtake each other.
  int count = static_cast<int>(writes_.size());
  count = calm_ || count == 0 ? count : Random(count + 1);
  for (int i = 0; i < count; ++i) {
    const auto at = writes_.begin() + Random(static_cast<int>(writes_.size()));
    const Action action = *at;
    writes_.erase(at);
    Perform(action);
  }
}

void FakeCluster::Perform(const Action& action) {
  if (action.kind == Action::Kind::kReadOwner) return ReadOwner(action);
  Result result;
  const int luck = calm_ ? 100 : Random(100);
  if (luck < 5) {
    result.error = "no answer";  // nothing is done
  } else if (luck < 10) {
    Write(action);  // it is done, but the answer is lost
  } else if (luck < 13) {
    result = {.outcome = Outcome::kRefused, .error = "busy"};
  } else {
    result = Write(action);
  }
  Remember(action.pod.uid + " was to be written, kind " + std::to_string(static_cast<int>(action.kind)) +
           ": outcome " + std::to_string(static_cast<int>(result.outcome)));
  gangs_->Written(action.id, result, now_s_);
}

void FakeCluster::ReadOwner(const Action& action) {
  using nlohmann::json;
  const auto job = jobs_.find(action.owner.name);
  if (job == jobs_.end() || (!calm_ && Chance(10)))
    return gangs_->OwnerRead(action.id, json(), "no answer", now_s_);
  const json container = {{"resources", {{"limits", {{base::kSlotResource, job->second.gpus}}}}}};
  const json pod = {{"metadata", {{"annotations", {{base::kShareAnnotation, "true"}}}}},
                    {"spec", {{"containers", json::array({container})}}}};
  const json spec = {
      {"parallelism", job->second.size}, {"completions", job->second.completions}, {"template", pod}};
  json object = {{"apiVersion", "batch/v1"},
                 {"kind", "Job"},
                 {"spec", spec},
                 {"status", {{"succeeded", job->second.done.size()}}}};
  sabotage_.owner(object);
  gangs_->OwnerRead(action.id, object, "", now_s_);
}

Result FakeCluster::Write(const Action& action) {
  using Kind = Action::Kind;
  const auto found = pods_.find(action.pod.uid);
  if (found == pods_.end()) return {.outcome = Outcome::kGone};
  Truth& truth = found->second;
  Pod& pod = truth.pod;
  switch (action.kind) {
    case Kind::kReserve:
      pod.annotations.erase(base::kGrantedMemoryAnnotation);
      if (action.memory > 0) pod.annotations[base::kGrantedMemoryAnnotation] = std::to_string(action.memory);
      pod.annotations[base::kReservationAnnotation] = action.text;
      NotePromise(truth);
      break;
    case Kind::kShare:
    case Kind::kAge:
      pod.annotations[kMadeRoomAnnotation] = action.text;
      break;
    case Kind::kSettle:
      pod.annotations[base::kReservationAnnotation] = action.text;
      break;
    case Kind::kClear:
      truth.nominated.clear();
      if (!calm_ && Chance(5)) return {.error = "the second of two requests had no answer"};
      pod.annotations.erase(base::kReservationAnnotation);
      pod.annotations.erase(base::kGrantedMemoryAnnotation);
      break;
    case Kind::kRelease:
      std::erase(pod.gates, base::kGangGate);
      if (Chance(90)) truth.nominated = action.node;  // else it could not be set
      pod.annotations[base::kRequeueAnnotation] = action.text;
      break;
    case Kind::kBind:
      return Bind(truth, action);
    case Kind::kEvict:
      return Evict(truth);
    default:
      Note("an action that is no write");
  }
  Changed(truth);
  return {.outcome = Outcome::kDone, .version = pod.version};
}

// Evicts a pod as the API server does: by its budget, which the extender may see late.
Result FakeCluster::Evict(Truth& truth) {
  constexpr double kLateS = 40;  // a decision of the extender is carried out within this
  Pod& pod = truth.pod;
  const bool leaves = truth.settled && !pod.deleting;
  const auto limit = limits_.find(truth.gang.substr(0, truth.gang.find('/')));
  if (limit != limits_.end() && pod.running && !pod.over && !pod.deleting) {
    if (limit->second.budget.allowed == 0) {
      kept_back_.insert(truth.gang);
      if (now_s_ > limit->second.changed_s + kLateS) Note("pods are evicted against their budget");
      return {.outcome = Outcome::kRefused, .error = "a budget forbids it", .forbidden = true};
    }
    --limit->second.budget.allowed;
    budget_events_.push_back(limit->second.budget);
  }
  if (leaves) JudgeLeaving(truth);
  pod.deleting = true;
  Changed(truth);
  if (leaves) NoteWhoLeft(truth.gang);
  return {.outcome = Outcome::kDone, .version = pod.version};
}

FakeCluster::Job* FakeCluster::JobOf(const std::string& gang) {
  for (auto& [name, job] : jobs_) {
    if (gang == name + "/" + std::to_string(job.attempt)) return &job;
  }
  return nullptr;
}

Result FakeCluster::Bind(Truth& truth, const Action& action) {
  Pod& pod = truth.pod;
  if (!pod.node.empty() || pod.deleting || !pod.gates.empty())
    return {
        .outcome = Outcome::kRefused, .node = pod.node, .looked = true, .error = "bound, deleting or gated"};
  const auto owner = jobs_.find(truth.gang.substr(0, truth.gang.find('/')));
  if (!calm_ && owner != jobs_.end() && owner->second.stubborn == truth.index)
    return {.outcome = Outcome::kRefused, .looked = true, .error = "a policy refuses it"};
  pod.node = action.node;
  pod.scheduled = {.yes = true, .reason = "", .message = "", .at_s = std::floor(now_s_)};
  pod.running = Chance(80);  // else it has not begun yet
  pod.annotations[base::kAssignmentAnnotation] = action.text;
  truth.actual = PodSeat{action.node, ReadAssignment(action.text)}.gpus();
  for (auto& [name, job] : jobs_) {
    if (truth.gang != name + "/" + std::to_string(job.attempt)) continue;
    job.bound.insert(truth.index);
    if (static_cast<int>(job.bound.size()) < job.need() || job.whole) continue;
    job.whole = true;
    ++placed_;
    resumed_ += job.done.empty() ? 0 : 1;
  }
  JudgeBinding(truth);
  Changed(truth);
  PublishGpus(action.node);
  return {.outcome = Outcome::kDone, .version = pod.version};
}

void FakeCluster::PublishGpus(const std::string& node) {
  GpuNode& daemon = gpu_nodes_[node];
  for (GpuNode::Gpu& gpu : daemon.gpus) {
    gpu.holders.clear();
    for (const auto& [uid, truth] : pods_) {
      const bool has = std::ranges::find(truth.actual, gpu.uuid) != truth.actual.end();
      if (has && truth.pod.node == node && !truth.pod.over)
        gpu.holders.push_back({"team", truth.pod.name, "main", {gpu.uuid + "::0"}});
    }
  }
  gpu_events_.push_back(daemon);
}

}  // namespace crossover::extender
