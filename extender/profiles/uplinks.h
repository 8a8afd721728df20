// Says how long the uplinks of the nodes carry what the pods of a run send to each other. Pure.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "extender/cluster/communication.h"
#include "extender/placement/fabric.h"

namespace crossover::extender {

// UplinkTimes are seconds of one iteration, of the node whose uplink is the busiest.
struct UplinkTimes {
  double now_s = 0;    // as the pods are placed
  double least_s = 0;  // as they would be placed by what they send, on the same seats; `now_s` at most

  friend bool operator==(const UplinkTimes&, const UplinkTimes&) = default;
};

// NodePlaces say where nodes are, by their names.
using NodePlaces = std::map<std::string, placement::SeatPlace>;

// Returns the times of a run whose pods call `groups`; pod i is at `seats[i]`. Returns nothing if the speed
// of a node's link is not known, or if FlowsOf() returns nothing. REQUIRES: the members of all groups have a
// seat.
std::optional<UplinkTimes> UplinkTimesOf(std::span<const CallGroup> groups,
                                         std::vector<placement::SeatPlace> seats);

}  // namespace crossover::extender
