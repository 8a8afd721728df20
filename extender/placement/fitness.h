// Defines how the engine asks what else a node must have for a pod: CPU, memory, taints, selectors,
// affinity, volumes.
//
// The engine knows only GPUs; its caller knows the rest and answers here. The engine asks many times about
// the same node, so the answer should be cheap. During a decision, the answer must depend on the arguments
// alone.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "extender/placement/occupancy.h"

namespace crossover::placement {

inline constexpr int kMostPods = 1 << 20;  // of a node that has room for all

// A Fit says how many pods of a gang a node takes, and why it takes none.
struct Fit {
  int pods = 0;          // how many more of the gang's pods the node takes, GPUs aside
  int ever = kMostPods;  // how many it would take if it were empty and else as it is now
  // `why` says why the node takes none of the gang's pods, or few of them. All nodes with the same cause have
  // the same text: "the node's CPU is taken".
  std::string why;
  std::string figures{};  // details of this node: "12 of 16"

  // Returns whether the node would take no pod of the gang even if it were empty.
  bool never() const { return ever <= 0; }
};

// Returns how many pods of `gang` fit on the node with this index in State::nodes. `planned` are pods that
// this decision puts there, beside those that the caller knows of.
using Fitness = std::function<Fit(const Gang& gang, int node, std::span<const Planned> planned)>;

// FitsAnywhere is the Fitness of callers that know of no further limits. It always returns room for
// kMostPods.
inline Fit FitsAnywhere(const Gang&, int, std::span<const Planned>) { return {.pods = kMostPods, .why = {}}; }

}  // namespace crossover::placement
