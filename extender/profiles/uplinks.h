// Says how long the uplinks of the nodes carry what the pods of a run send to each other. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "extender/cluster/communication.h"
#include "extender/placement/fabric.h"

namespace crossover::extender {

// UplinkTimes are seconds of one iteration, of the node whose uplink is the busiest.
struct UplinkTimes {
  double now_s = 0;  // as the pods are placed
  // As gang/seat_order.h would place them on the same seats. It is at most `now_s`, though if GPUs are of
  // unequal speed another order may shorten compute, and then its uplinks count as those of now.
  double least_s = 0;

  friend bool operator==(const UplinkTimes&, const UplinkTimes&) = default;
};

// NodePlaces say where nodes are, by their names.
using NodePlaces = std::map<std::string, placement::SeatPlace>;

// Returns the times of a run of a job of which `communication` is known; pod i is at `seats[i]`. Returns
// nothing if the speed of a node's link is not known, or if FlowsOf() returns nothing. REQUIRES: each pod has
// a seat.
std::optional<UplinkTimes> UplinkTimesOf(const Communication& communication,
                                         std::vector<placement::SeatPlace> seats);

}  // namespace crossover::extender
