// Decides which gang a pod belongs to. Pure.
//
// If another gang scheduler is responsible for a pod, the pod is placed by itself. Else the user's
// annotations (crossover.dev/gang and gang-size) decide. Else the labels of the pod's controller do, by the
// table of owner kinds (owner_kinds.cc). Any other pod is a gang of one.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "extender/gang/owner_facts.h"

namespace crossover::extender {

// A Membership describes the gang of a pod.
struct Membership {
  std::string id;    // of one incarnation, unique in the cluster; begins with the namespace
  std::string name;  // as its user knows it
  int size = 0;      // number of pods that ask for GPUs; 0: not known yet
  std::string job;   // the job that it is one stage of; empty: it is the whole job
  // `owner` is the object that says the size, if the pod itself does not. The caller has to read it while the
  // size is not known.
  std::optional<OwnerRef> owner;
  // If not empty, the pod is placed by itself and shares no GPU; the text says why.
  std::string aside;
  // If not empty, the pod's labels or annotations are invalid; the text names key, value and what is
  // expected.
  std::string fault;
};

// Returns the gang of a pod. `facts` is what was read from the object that OwnerOf() names; null: it was
// not read.
Membership MembershipOf(const Pod& pod, const OwnerFacts* facts = nullptr);

// Returns the object that says the size of the pod's gang, or nothing where the pod itself says it.
std::optional<OwnerRef> OwnerOf(const Pod& pod);

}  // namespace crossover::extender
