// Chooses which pod of a gang gets which of the gang's seats, by what the pods send to each other. Pure.
//
// The seats are the leaves of a tree: a zone has racks, a rack has nodes, a node has seats. Each domain of
// the tree has an uplink, which carries what its pods send to pods outside and what they get from there:
//
//          zone            uplink of rack 0: flows between {s0, s1, s2} and {s3, s4}
//         /    \           uplink of node 1: flows between {s2} and all others
//     rack 0   rack 1
//     /   \       |
//   node 0 node 1 node 2
//   s0 s1   s2    s3 s4
//
// An uplink's load is the larger of the two sums, over the uplink's speed. The cost of a mapping is the time
// of the slowest pod's compute, and then, of each level from the widest to the nodes, the load of the busiest
// uplink. Two costs are compared at the first level at which they differ, and the smaller one is better: what
// crosses a wide domain also crosses all narrower domains, on links that more jobs share.
#pragma once

#include <vector>

#include "extender/placement/model.h"

namespace crossover::placement {

// A Flow is what one pod sends to another in one iteration. Pods are numbered from 0 in order of their ranks.
struct Flow {
  int from;
  int to;
  Bytes bytes;
};

// A Workload is what the pods of a gang do in one iteration.
struct Workload {
  int pods = 0;
  std::vector<Flow> flows;
  std::vector<double> compute_s{};  // by pod, on a seat of speed 1; empty: no difference counts
};

// A Fabric says where the seats of a gang are.
struct Fabric {
  std::vector<std::vector<int>> domains;      // by level, the widest first, and seat: numbers from 0 on
  std::vector<std::vector<double>> speeds{};  // by level and domain: of its uplink; empty: all are alike
  std::vector<double> seat_speeds{};          // by seat; empty: all are alike

  int seats() const { return domains.empty() ? 0 : static_cast<int>(domains.front().size()); }
};

// A MappingCost has the time of the slowest pod's compute and then the largest load of each level.
using MappingCost = std::vector<double>;

// Returns the cost if pod i has the seat `seat_of[i]`. REQUIRES: as MapPods(), and `seat_of` has each seat at
// most once.
MappingCost CostOf(const Workload& workload, const Fabric& fabric, const std::vector<int>& seat_of);

// Returns the seat of each pod. Up to kMostExact pods it is a mapping of the least cost. Beyond, it begins
// with the order of the seats and with groups of pods that send much to each other, and exchanges two pods as
// long as that helps, for at most kMostExchanges tries from each. It never costs more than pod i on seat i,
// and is that if nothing costs less. REQUIRES: there are as many seats as pods, each vector of `fabric` and
// `workload` that is not empty is complete, speeds are above 0, and flows name pods that exist.
std::vector<int> MapPods(const Workload& workload, const Fabric& fabric);
inline constexpr int kMostExact = 8;
inline constexpr int kMostExchanges = 10'000;

}  // namespace crossover::placement
