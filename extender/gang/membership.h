// Which gang a pod belongs to. Pure.
//
// First what its user says (annotations crossover.dev/gang and gang-size), else what the labels of whoever
// made it say, by one table of owner kinds (owner_kinds.cc). Pods that another gang scheduler answers for are
// taken one by one. Whatever else is a gang of one.
#pragma once

#include <compare>
#include <optional>
#include <string>

#include "extender/gang/owner_facts.h"

namespace crossover::extender {

struct Membership {
  std::string id;    // of one incarnation, in the whole cluster; the namespace is its beginning
  std::string name;  // as its user knows it
  int size = 0;      // pods that ask for GPUs; 0: not known yet
  std::string job;   // of several gangs, the stages of one; empty: it is all of its job
  // Says the size; to be read where the size is not known.
  std::optional<OwnerRef> owner;
  // Why its members are taken one by one, none of them beside anybody; else empty.
  std::string aside;
  // What makes no sense: names key, value and what is allowed; else empty.
  std::string fault;
};

// `facts`: what the object said that an earlier answer named; null where it was not read.
Membership MembershipOf(const Pod& pod, const OwnerFacts* facts = nullptr);

// The object that says the size of the pod's gang, where one has to be asked.
std::optional<OwnerRef> OwnerOf(const Pod& pod);

}  // namespace crossover::extender
