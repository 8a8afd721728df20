// Decides which gang a pod belongs to. Pure.
//
// If another gang scheduler is responsible for a pod, the pod is placed by itself. Else the user's
// annotations (crossover.dev/gang and gang-size) decide. Else the labels of the pod's controller do, by the
// table of owner kinds (owner_kinds.cc). Any other pod is a gang of one.
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "extender/gang/owner_facts.h"

namespace crossover::extender {

// A Known says how the gang of a pod is known.
enum class Known : std::uint8_t {
  kByAnnotation,  // crossover.dev/gang
  kByOwner,       // the labels of a controller in the table of owner kinds
  kNotKnown,      // its controller is not in the table: the pod is placed by itself
  kBare,          // the pod has no controller, and is placed by itself
  kAside          // another gang scheduler is responsible, so the pod is placed by itself
};

// A Maker is the controller that made pods which are placed by themselves. A Deployment stands for its
// ReplicaSets, and a RayCluster for whatever makes its pods.
struct Maker {
  std::string kind, name;
  std::string id;  // unique in the cluster
};

// A Membership describes the gang of a pod.
struct Membership {
  Known known = Known::kBare;
  std::string id;    // of one incarnation, unique in the cluster; begins with the namespace
  std::string name;  // as its user knows it
  int size = 0;      // number of pods that ask for GPUs; 0: not known yet
  // The job that it is one stage of, or the id of `maker`. No two gangs with the same job are on one GPU.
  // Empty: it is the whole job.
  std::string job;
  std::optional<std::string> part;  // the part of the job that it is; none: it is all parts
  Maker maker;  // of a pod that is placed by itself: its id is `job`; empty: the pod has no controller
  // `owner` is the object that says the size, if the pod itself does not. The caller has to read it while the
  // size is not known.
  std::optional<OwnerRef> owner;
  // If not empty, the pod is placed by itself and shares no GPU; the text says why.
  std::string aside;
  // If not empty, the pod's labels or annotations are invalid; the text names key, value and what is
  // expected.
  std::string fault;

  std::string name_space() const { return id.substr(0, id.find('/')); }
};

// Returns the gang of a pod. `facts` is what was read from the object that OwnerOf() names; null: it was
// not read.
Membership MembershipOf(const Pod& pod, const OwnerFacts* facts = nullptr);

// A Unit says where in its job a pod is, as its labels say it: in which part, and in which group of that part
// (Part::groups). Both are empty if the kind of its owner has no such thing.
struct Unit {
  std::string part, group;
};
Unit UnitOf(const Pod& pod);

// Returns the value of the pod's label with this key, else that of its annotation, else "".
const std::string& MarkOf(const Pod& pod, const std::string& key);

// IndexKeys names the labels that order the pods of one gang, as the row of their owner has them
// (owner_kinds.h). An empty key is not used.
struct IndexKeys {
  const char* over_parts = "";
  const char* part = "";
  const char* indices = "";
};
IndexKeys IndexKeysOf(const Pod& pod);

// Returns what a user should know if the pod's gang is not known although a controller makes such pods, in
// words for a warning. Returns "" if the gang is known, and for a pod without a controller.
std::string AboutGang(const Membership& membership);

// Returns what AboutGang() says of a pod that is about to be created, as admission gets the pod. Returns ""
// for a pod of a Job: most such Jobs have one pod, and of the others an event tells.
std::string AboutGangOf(const nlohmann::json& pod, const std::string& name_space);

// Returns the object that says the size of the pod's gang, or nothing if the pod itself says it.
std::optional<OwnerRef> OwnerOf(const Pod& pod);

}  // namespace crossover::extender
