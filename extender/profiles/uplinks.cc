#include "extender/profiles/uplinks.h"

#include <algorithm>
#include <numeric>

#include "extender/profiles/workload.h"

namespace crossover::extender {
namespace {

// Returns the seconds of the busiest uplink of a node if pod i has the seat `seat_of[i]`.
double TimeOf(const placement::Workload& workload, const placement::Fabric& fabric,
              const std::vector<int>& seat_of, double link) {
  const double cost = placement::CostOf(workload, fabric, seat_of).back();
  return fabric.speeds.empty() ? cost / link : cost;  // else the links are alike, and the cost is in bytes
}

}  // namespace

std::optional<UplinkTimes> UplinkTimesOf(const Communication& communication,
                                         std::vector<placement::SeatPlace> seats) {
  const auto is_unknown = [](const placement::SeatPlace& seat) { return seat.link <= 0; };
  if (seats.empty() || std::ranges::any_of(seats, is_unknown)) return std::nullopt;
  std::size_t levels = 0;
  for (const placement::SeatPlace& seat : seats) levels = std::max(levels, seat.domains.size());
  std::vector<int> in_order(seats.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  const double link = seats.front().link;
  const placement::Fabric as_placed = placement::FabricOf(seats, levels);
  const auto workload = WorkloadOf(communication, as_placed);
  if (!workload) return std::nullopt;
  const double now_s = TimeOf(*workload, as_placed, in_order, link);
  // The engine gives a gang its seats in ascending order of their places.
  std::ranges::sort(seats);
  const placement::Fabric fabric = placement::FabricOf(seats, levels);
  return UplinkTimes{now_s, std::min(now_s, TimeOf(*workload, fabric, MapPods(*workload, fabric), link))};
}

}  // namespace crossover::extender
