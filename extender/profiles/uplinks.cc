#include "extender/profiles/uplinks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "extender/profiles/flows.h"

namespace crossover::extender {
namespace {

// Returns the seconds of the busiest uplink of a node where pod i has the seat `seat_of[i]`.
double TimeOf(const placement::Workload& workload, const placement::Fabric& fabric,
              const std::vector<int>& seat_of, double link) {
  const double cost = placement::CostOf(workload, fabric, seat_of).back();
  return fabric.speeds.empty() ? cost / link : cost;  // else the links are alike, and the cost is in bytes
}

}  // namespace

std::optional<UplinkTimes> UplinkTimesOf(std::span<const CallGroup> groups,
                                         std::vector<placement::SeatPlace> seats) {
  const auto is_unknown = [](const placement::SeatPlace& seat) { return seat.link <= 0; };
  if (seats.empty() || std::ranges::any_of(seats, is_unknown)) return std::nullopt;
  auto flows = FlowsOf(groups);
  if (!flows) return std::nullopt;
  const placement::Workload workload{.pods = static_cast<int>(seats.size()), .flows = *std::move(flows)};
  std::size_t levels = 0;
  for (const placement::SeatPlace& seat : seats) levels = std::max(levels, seat.domains.size());
  std::vector<int> in_order(seats.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  const double link = seats.front().link;
  const double now_s = TimeOf(workload, placement::FabricOf(seats, levels), in_order, link);
  // The engine gives a gang its seats in this order.
  std::ranges::sort(seats);
  const placement::Fabric fabric = placement::FabricOf(seats, levels);
  return UplinkTimes{now_s, std::min(now_s, TimeOf(workload, fabric, MapPods(workload, fabric), link))};
}

}  // namespace crossover::extender
