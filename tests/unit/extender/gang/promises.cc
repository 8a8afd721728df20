// Finds what must never happen while gangs make room for others, from the truth alone: which reservations are
// on pods, which pods are evicted, and which ranks the gangs have.
#include <algorithm>

#include "common/base/names.h"
#include "extender/gang/made_room.h"
#include "tests/unit/extender/gang/fake_cluster.h"

namespace crossover::extender {
namespace {

// A decision of the extender is carried out within this, whatever it has not heard of meanwhile.
constexpr double kLateS = 40;

}  // namespace

// Returns the priority of the gang's least pod that has not ended by then.
int FakeCluster::RankOf(const std::string& gang, double at_s) const {
  int rank = 1 << 20;
  for (const auto& [uid, truth] : pods_) {
    const bool over = truth.pod.over && truth.over_s <= at_s;
    if (truth.gang == gang && !over) rank = std::min(rank, static_cast<int>(truth.pod.priority));
  }
  return rank;
}

// Notes a claim when a reservation of it is written.
void FakeCluster::NotePromise(const Truth& truth) {
  const auto reservation = ReservationOn(truth.pod);
  if (!reservation || !reservation->claims) return;
  Promise& promise = promises_[reservation->plan];
  promise.gang = truth.gang;
  promise.rank = RankOf(truth.gang, now_s_);
  for (const std::string& gpu : reservation->seat.gpus()) promise.gpus.insert(gpu);
  for (const auto& [uid, other] : pods_) {
    if (other.gang == truth.gang) promise.preempts &= other.pod.preempts;
  }
  if (reservation->left) promise.left = *reservation->left;
  promise.written.insert(truth.pod.uid);
  promise.size = std::max(promise.size, reservation->size);
}

// Finds out which claims are whole, and which are over: a pod of the gang has gone or lost its reservation,
// the room was made, or a node is lost.
void FakeCluster::FollowPromises() {
  for (auto& [id, promise] : promises_) {
    int has = 0;
    bool claims = false, lost = false;
    for (const auto& [uid, truth] : pods_) {
      if (truth.gang != promise.gang || truth.pod.deleting || truth.pod.over) continue;
      const auto reservation = ReservationOn(truth.pod);
      if (!reservation || reservation->plan != id) continue;
      ++has;
      claims |= reservation->claims;
      const Node& node = nodes_.at(reservation->seat.node);
      lost |= !node.ready || node.cordoned;
    }
    const Job* job = JobOf(promise.gang);
    const bool all = job != nullptr && has > 0 && has >= std::min(job->need(), job->size);
    // The extender may not know yet that a pod goes to which it wrote.
    const bool written = static_cast<int>(promise.written.size()) >= promise.size;
    if (((all && claims) || written) && !std::exchange(promise.whole, true)) {
      for (const auto& [uid, truth] : pods_) {
        const auto on = [&gpus = promise.gpus](const std::string& gpu) { return gpus.contains(gpu); };
        const auto planned = ReservationOn(truth.pod);
        std::vector<std::string> its = truth.actual;
        if (its.empty() && planned && !planned->claims) its = planned->seat.gpus();
        if (!truth.pod.over && std::ranges::any_of(its, on)) promise.beside.insert(truth.gang);
      }
    }
    if (all && claims && !lost) {
      promise.over_s = -1;
    } else if (promise.over_s < 0) {
      promise.over_s = now_s_;
    }
  }
}

// Judges the eviction of a pod whose gang runs: a claim must name the gang.
void FakeCluster::JudgeLeaving(const Truth& truth) {
  FollowPromises();
  const std::string key = VictimKeyOf(MembershipOf(truth.pod));
  Promise* promise = nullptr;
  for (auto& [id, each] : promises_) {
    if (each.left.gangs.contains(key) && (promise == nullptr || each.left.at_s > promise->left.at_s))
      promise = &each;
  }
  if (promise == nullptr) return Note("a pod of a gang that ran is deleted");
  if (!promise->whole) Note("a gang leaves before the claim is written");
  // The extender may not know yet that pods have ended.
  if (RankOf(truth.gang, now_s_ - kLateS) >= promise->rank) Note("a gang leaves for one of no higher rank");
  if (!promise->preempts) Note("a gang leaves for one that says Never");
  const auto [began, begins] = promise->began_s.emplace(truth.gang, now_s_);
  const bool over = promise->over_s >= 0 && now_s_ > promise->over_s + kLateS;
  const bool came_again = truth.pod.created_s >= began->second;
  if (came_again || (begins && over)) Note("a gang leaves in vain");
}

// A gang that has left is placed like a new one.
void FakeCluster::NoteWhoLeft(const std::string& gang) {
  const bool stays = std::ranges::any_of(pods_, [&](const auto& entry) {
    const Truth& truth = entry.second;
    return truth.gang == gang && !truth.pod.node.empty() && !truth.pod.deleting && !truth.pod.over;
  });
  Job* job = JobOf(gang);
  if (stays || job == nullptr) return;
  ++left_;
  job->whole = false;
  job->half_since_s = -1;
  job->whole_for = 0;
  job->bound.clear();
}

// All pods of a gang leave, or none. It is judged in the calm part, in which no write fails.
void FakeCluster::JudgeHalves() {
  if (!calm_) return;
  for (const auto& [id, promise] : promises_) {
    for (const auto& [gang, began_s] : promise.began_s) {
      // A budget may forbid the last evictions. A claim that is over tells a new extender nothing.
      const bool taken_over = restarted_s_ >= began_s;
      if (now_s_ < std::max(calm_s_, began_s) + kLateS || kept_back_.contains(gang) || taken_over) continue;
      for (const auto& [uid, truth] : pods_) {
        const Pod& pod = truth.pod;
        if (truth.gang == gang && truth.settled && !pod.deleting && !pod.over && pod.created_s < began_s)
          Note("half a gang has left");
      }
    }
  }
}

// Returns whether all gangs that had to leave have left, and the GPU has a slot for the gang of the claim.
// Then the extender may write the reservation anew and place a gang beside it, in any order.
bool FakeCluster::IsRoomMade(const Promise& promise, const std::string& gpu) const {
  int clients = 0;
  for (const auto& [uid, truth] : pods_) {
    if (truth.pod.over || truth.pod.node.empty()) continue;
    const bool old = truth.pod.created_s <= promise.left.at_s;
    if (old && promise.left.gangs.contains(VictimKeyOf(MembershipOf(truth.pod)))) return false;
    clients +=
        truth.gang != promise.gang && std::ranges::find(truth.actual, gpu) != truth.actual.end() ? 1 : 0;
  }
  return clients < 2;
}

// No gang comes to GPUs that are promised to another one, unless its own plan was made before the promise.
void FakeCluster::JudgeSeats(const Truth& truth, const std::string& gpu) {
  const auto reservation = ReservationOn(truth.pod);
  const double planned_s = reservation ? reservation->until_s - QuickSettings().deadline_s : now_s_;
  for (const auto& [id, promise] : promises_) {
    if (!promise.whole || promise.over_s >= 0 || promise.gang == truth.gang || !promise.gpus.contains(gpu))
      continue;
    const bool left = promise.began_s.contains(truth.gang) && !kept_back_.contains(truth.gang);
    const bool stays = promise.beside.contains(truth.gang) || planned_s < promise.left.at_s;
    const bool comes = left || !stays;
    if (comes && !IsRoomMade(promise, gpu)) Note("promised GPUs are given to another gang");
  }
}

// In the end no gang waits for GPUs that a gang of lower rank has for itself.
void FakeCluster::JudgeRanks() {
  std::map<std::string, int> used;                    // pods by GPU
  std::map<std::string, std::set<std::string>> gpus;  // by gang
  for (const auto& [uid, truth] : pods_) {
    if (truth.pod.over) continue;
    for (const std::string& gpu : truth.actual) ++used[gpu];
    gpus[truth.gang].insert(truth.actual.begin(), truth.actual.end());
  }
  const auto alone = [&used](const std::string& gpu) { return used[gpu] == 1; };
  for (const auto& [name, job] : jobs_) {
    const std::string gang = name + "/" + std::to_string(job.attempt);
    if (!gpus[gang].empty() || job.gpus != 1 || !job.preempts || job.need() == 0) continue;
    for (const auto& [other_name, other] : jobs_) {
      const std::string lower = other_name + "/" + std::to_string(other.attempt);
      const std::set<std::string>& its = gpus[lower];
      const bool whole = static_cast<int>(its.size()) == other.need() * other.gpus && other.done.empty();
      if (whole && !other.resized && RankOf(lower, now_s_) < RankOf(gang, now_s_) &&
          static_cast<int>(its.size()) >= job.need() && std::ranges::all_of(its, alone))
        Note("a gang waits for one of lower rank");
    }
  }
}

}  // namespace crossover::extender
