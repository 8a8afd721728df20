// Says where the seats of a gang are in the tree of links. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "extender/placement/mapping.h"

namespace crossover::placement {

// A SeatPlace is where one seat is.
struct SeatPlace {
  std::vector<std::string> domains;  // the labels of its node, the widest first; missing ones count as ""
  std::string node;
  double link = 0;   // bytes per second of the node's uplink; 0: not known
  double speed = 0;  // of the slowest GPU of the seat, relative to a model that has 1; 0: not known

  friend auto operator<=>(const SeatPlace&, const SeatPlace&) = default;
};

// Returns the fabric of the seats: `levels` levels of domains, the widest first, and then the nodes. A domain
// is within one of the level before, so equal labels in two zones are two racks. Nodes that lack a label are
// in one domain. The uplinks of the nodes have their speeds if all of them are known and not all are alike.
// The speeds of the other uplinks are not known, so they count as 1. The seats have their speeds if all of
// them are known and not all are alike.
Fabric FabricOf(std::span<const SeatPlace> seats, std::size_t levels);

}  // namespace crossover::placement
