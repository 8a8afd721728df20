// What all parts of the gangs' life work on: the records, the clock's last reading, and what is to be done.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "extender/cluster/world.h"
#include "extender/gang/record.h"
#include "extender/gang/settings.h"
#include "extender/placement/fitness.h"
#include "extender/placement/model.h"

namespace crossover::extender {

// What a user reads begins so while the pod is not to be placed yet.
inline constexpr char kWaits[] = "crossover: waits: ";
// What follows where the node of its GPUs was not among those that its scheduler asked about.
inline std::string NotThere(const std::string& node) {
  return "the scheduler would not have it on " + node + ", where its GPUs are";
}

// How many more pods like this one a node takes beside those of World and `planned`, which are not bound yet.
using PodFits =
    std::function<placement::Fit(const Pod& pod, const std::string& node, const Resources& planned)>;

struct Desk {
  const World* world = nullptr;
  GangSettings settings;
  PodFits fits;
  std::string epoch;  // of this leader: plans of two leaders have different names
  double now_s = 0;
  std::uint64_t next = 1;
  std::map<std::string, GangRecord> gangs;
  std::unordered_map<std::string, std::string> gang_of;  // by a member's UID
  std::set<std::string> dirty;
  int searches = 0;  // for seats, that may yet be made in this step; each looks at the whole cluster
  std::set<std::string> later;  // gangs for which there were none left
  std::uint64_t searched = 0;   // how often there was one
  bool replan = false;          // something changed that a decision depends on
  std::vector<Action> actions;
  std::size_t tell_room = 0;  // so many kTell may be added to them
  struct Write {
    Action::Kind kind;
    std::string gang, uid;
    std::string plan;  // that it is part of; empty: of none
  };
  std::unordered_map<std::uint64_t, Write> writes;
  struct OwnerEntry {
    std::optional<OwnerFacts> facts;
    double asked_s = 0;
    int in_vain = 0;  // how often in a row it had nothing new to say
    std::uint64_t in_flight = 0;
    std::string error;
  };
  std::map<OwnerRef, OwnerEntry> owners;
  double quiet_until_s = 0;             // an API server wants to be left alone
  std::optional<placement::Kept> kept;  // as the last decision had it

  GangRecord* GangOf(const std::string& uid);
  bool MayWrite(const Member& member) const;
  // Begins a write, unless another one of this pod is on its way or failed just now.
  void Begin(GangRecord& gang, const std::string& uid, Action::Kind kind, std::string node, std::string text,
             std::uint64_t memory = 0);
  void Answer(Member& member, std::string error);
  // Whether it is its turn to search for a seat; if not, it will be in a step to come.
  bool MaySearch(GangRecord& gang);
  void Say(GangRecord& gang, std::string text);
};

// Those of its members that the world has.
std::vector<const Pod*> PodsOf(const Desk& desk, const GangRecord& gang);

// What is known of a member: the watch's view, and what was written since.
struct View {
  const Pod* pod = nullptr;
  const Member* member = nullptr;

  bool current() const;  // the watch shows our last write
  bool living() const { return pod != nullptr && !pod->over && !member->gone; }
  std::string node() const { return pod != nullptr && !pod->node.empty() ? pod->node : member->bound; }
  bool bound() const { return living() && !node().empty(); }
  // It has been bound, and has done what it was to do: no other comes in its place.
  bool done() const { return pod != nullptr && pod->over && !pod->failed && !pod->node.empty(); }
  bool leaving() const { return pod == nullptr || pod->deleting || member->doomed || member->gone; }
  bool gated() const;
  bool other_gates() const;
  bool may_have_reservation() const;
  // Alive, unbound, staying, and nobody else's gate is on it.
  bool waiting() const { return living() && node().empty() && !leaving() && !other_gates(); }
};
View ViewOf(const Desk& desk, const GangRecord& gang, const std::string& uid);

// Whether a version of an object is as new as another: they are numbers, in practice and since 1.35 by
// contract.
bool AsNewAs(const std::string& version, const std::string& other);

}  // namespace crossover::extender
