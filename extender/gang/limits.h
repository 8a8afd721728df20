// Works out what the constraints of pods leave of nodes to a gang. Pure.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "extender/gang/residents.h"

namespace crossover::extender {

inline constexpr char kApartField[] = "spec.affinity.podAntiAffinity";
inline constexpr char kNearField[] = "spec.affinity.podAffinity";
inline constexpr char kSpreadField[] = "spec.topologySpreadConstraints";

// A Bar closes a node to a gang.
struct Bar {
  std::string why, figures;
  // The gangs of the pods that it is for, and the nodes that these are on. The bar ends when all have left.
  // Empty: it ends in other ways.
  std::set<std::pair<std::string, std::string>> by;
};

// A NodeLimit is what is left of one node.
struct NodeLimit {
  bool never = false;  // no pod of the gang may ever be there
  bool one = false;    // two pods of the gang may not be there together
  std::string why;     // of these two, in words for the user
  std::vector<Bar> bars;
};

// Limits are what is left of the nodes of a State for one gang.
struct Limits {
  std::vector<NodeLimit> nodes;  // by index in State::nodes
  std::vector<placement::Division> divisions;
};

// Returns what is left for a gang with these pods, none of which has a place. REQUIRES: there is at least
// one, and FaultyDemands() finds no fault in them.
Limits LimitsOf(const ClusterCache& cache, const placement::State& state, const Residents& residents,
                const std::vector<const Pod*>& pods);

}  // namespace crossover::extender
