// What else a node must have for a pod: CPU, memory, taints, selectors, affinity, volumes.
//
// The engine knows GPUs; whoever calls it knows the rest, and answers here. Asked often, and for the same
// node again and again: keep answers at hand. Must depend on its arguments alone while a decision is made.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "extender/placement/occupancy.h"

namespace crossover::placement {

struct Fit {
  int pods = 0;        // how many more of the gang's pods the node takes, whatever GPUs it has
  bool never = false;  // it would take none if nothing ran on it either
  std::string why;  // where it takes none, in words for the user, and for all such nodes: "its CPU is taken"
  std::string figures{};  // what is of this node alone: "12 of 16"
};

// `planned`: pods of this decision that are to go there, on top of what the caller's own state says.
using Fitness = std::function<Fit(const Gang& gang, int node, std::span<const Planned> planned)>;

// For callers that have nothing to say.
inline Fit FitsAnywhere(const Gang&, int, std::span<const Planned>) {
  return {.pods = 1 << 20, .never = false, .why = {}};
}

}  // namespace crossover::placement
