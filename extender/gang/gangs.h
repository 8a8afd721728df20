// Decides which pods may go where, and when. No other code decides that.
//
// Pure: no clock, no I/O, one thread at a time. The caller passes in changes of the ClusterCache, questions
// of schedulers, results of writes, and the time (seconds since 1970, which does not go back). The answers
// are actions. A new leader begins with an empty object and a ClusterCache. Everything else that is
// remembered (record.h: places kept for pods that come again, excluded nodes, hold-offs) may be lost with a
// leader. Such a loss does no harm, and adopt.h, room.h and made_room.h restore what matters.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

class Gangs {
 public:
  // Adds all pods of `cache` that ask for slots. REQUIRES: `cache` outlives the object, and no earlier
  // leader had the same `epoch`. An empty `fits` means that pods fit anywhere.
  Gangs(const ClusterCache& cache, GangSettings settings, PodFits fits, std::string epoch);

  // Handles a pod that was put into the ClusterCache or removed from it.
  void PodChanged(const std::string& uid, double now_s);
  // Handles a change of nodes, GPUs or profiles in the ClusterCache.
  void ClusterChanged() { store_.replan = true; }
  // Takes the result of the kReadOwner action `id`. If it failed, `object` is null and `error` says why.
  void OwnerRead(std::uint64_t id, const nlohmann::json& object, const std::string& error, double now_s);
  // Takes the result of the write `id`.
  void Written(std::uint64_t id, const Result& result, double now_s);

  // Returns the answer to a scheduler's filter call, as SchedulerExtender does, or nothing for a pod that the
  // ClusterCache does not have. May make the gang's plan fail, if the scheduler does not ask about the
  // reserved node.
  std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes,
                                     double now_s);
  // Returns what Filter() answers for a pod whose place is on `node`.
  static FilterAnswer LeftOn(std::string node);
  // Returns the node that Filter() leaves the pod if asked about it, or "" if there is none. The answer holds
  // as long as nothing changes.
  std::string SeatOf(const std::string& uid) const;
  // Returns the UIDs of pods whose SeatOf() may have changed since the last call.
  std::set<std::string> TakeMoved() { return std::exchange(moved_, {}); }
  // Takes a scheduler's bind call. One action kAnswer with this `bind_handle` answers it later.
  void Bind(const PodRef& pod, const std::string& node, BindHandle bind_handle, double now_s);
  // Returns the answer to a scheduler's preempt call, as SchedulerExtender does.
  std::map<std::string, Victims> Preempt(const PodRef& pod, std::map<std::string, Victims> by_node) const;

  // Returns the actions to be done now. The caller must call it after each of the methods above, and
  // periodically. The result has at most `tell_room` actions of kind kTell; the others follow in later
  // steps.
  std::vector<Action> Step(double now_s, std::size_t tell_room = std::numeric_limits<std::size_t>::max());
  // Takes the time that the last Step() took. At most a fifth of all time goes to decisions about all
  // waiting gangs and to searches for seats of pods that came again.
  void Took(double begin_s, double end_s);

  // Returns why the pod's gang waits, or "" if it does not. If some pods of a gang run and others wait, the
  // text is about those that wait.
  std::string WhyWaits(const std::string& uid) const;
  // Returns the time before which nothing should be written, because the API server has asked for a pause.
  double quiet_until_s() const { return store_.quiet_until_s; }
  const GangStore& store() const { return store_; }

 private:
  void ReconcileAll();
  void Join(const Pod& pod);
  void ForgetMade(const std::string& id, const std::string& uid);
  void Leave(const std::string& uid, const std::string& gang);
  void Judge(const Pod& pod, GangRecord& gang);
  void GiveBack(GangRecord& gang, const std::string& uid, bool comes_again);
  bool IsFollowed(const GangRecord& gang) const;
  void Settle(GangRecord& gang, const GangStore::Write& write, const Result& result);
  void SettleBinding(GangRecord& gang, const std::string& uid, const Result& result);

  GangStore store_;
  std::set<std::string> moved_;
  double looked_s_ = -1e9;                   // when all gangs were last checked
  double planned_s_ = -1e9;                  // when the engine last decided
  double rest_until_s_ = -1e9;               // no decision and no search before this time
  bool planned_ = false, searched_ = false;  // whether the last Step() decided, and whether it searched
};

}  // namespace crossover::extender
