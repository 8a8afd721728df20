// The gangs of a cluster: which pods may go where, and when. The only place where that is decided.
//
// Pure: no clock, no I/O, one thread at a time. It is told that the World changed, what a scheduler asks,
// what came of its own writes, and the time (seconds since 1970, not going back); it answers with actions.
// A new leader begins with an empty object and a World. What is remembered beyond what the cluster says
// (record.h: places kept for pods that come again, nodes left out, hold-offs) may be lost with a leader: it
// does no harm, and adopt.h makes anew what matters.
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

#include "extender/gang/desk.h"

namespace crossover::extender {

class Gangs {
 public:
  // `world` must outlive it. `epoch`: a name that no earlier leader had. `fits`: none: pods fit anywhere.
  Gangs(const World& world, GangSettings settings, PodFits fits, std::string epoch);

  // A pod was put into the World, or removed from it.
  void PodChanged(const std::string& uid, double now_s);
  // Nodes, GPUs or profiles were.
  void ClusterChanged() { desk_.replan = true; }
  // `object`: null where there is none; `error`: why not.
  void OwnerRead(std::uint64_t id, const nlohmann::json& object, const std::string& error, double now_s);
  void Written(std::uint64_t id, const Result& result, double now_s);

  std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes,
                                     double now_s);
  // What Filter says of a pod that has a place.
  static FilterAnswer LeftOn(std::string node);
  // The node that Filter leaves the pod, if that is asked about, as long as nothing changes; empty: none.
  std::string SeatOf(const std::string& uid) const;
  // Pods whose SeatOf may be another than at the last call.
  std::set<std::string> TakeMoved() { return std::exchange(moved_, {}); }
  // Answered by an action kAnswer, once.
  void Bind(const PodRef& pod, const std::string& node, Ticket ticket, double now_s);
  std::map<std::string, Victims> Preempt(const PodRef& pod, std::map<std::string, Victims> by_node) const;

  // What is to be done now. To be called after each of the above, and every so often. `tell_room`: more kTell
  // are not among it; who was not told is later.
  std::vector<Action> Step(double now_s, std::size_t tell_room = std::numeric_limits<std::size_t>::max());
  // How long the last Step was: of the time, a fifth at most is for decisions about all that waits, and for
  // searches for the seats of pods that came again.
  void Took(double begin_s, double end_s);

  // Why the pod waits; empty where it does not.
  std::string WhyWaits(const std::string& uid) const;
  // Before which nothing is to be written: the API server wants to be left alone.
  double quiet_until_s() const { return desk_.quiet_until_s; }
  const Desk& desk() const { return desk_; }

 private:
  void AdvanceAll();
  void Join(const Pod& pod);
  void Leave(const std::string& uid, const std::string& gang);
  void Judge(const Pod& pod, GangRecord& gang);
  void GiveBack(GangRecord& gang, const std::string& uid, bool comes_again);
  void Settle(GangRecord& gang, const Desk::Write& write, const Result& result);
  void SettleBinding(GangRecord& gang, const std::string& uid, const Result& result);

  Desk desk_;
  std::set<std::string> moved_;
  double looked_s_ = -1e9;  // at all gangs
  double planned_s_ = -1e9;
  double rest_until_s_ = -1e9;
  bool planned_ = false, searched_ = false;  // in the last Step
};

}  // namespace crossover::extender
