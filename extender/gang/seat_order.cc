#include "extender/gang/seat_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/text/number.h"
#include "extender/gang/planner.h"
#include "extender/profiles/flows.h"

namespace crossover::extender {
namespace {

// Returns what runs of the gang's job called, or null where too little is known.
const Communication* KnownOf(const GangStore& store, const GangRecord& record) {
  const std::vector<std::string> uids = Seatless(store, record);
  const Pod* pod = uids.empty() ? nullptr : store.cache->FindPod(uids.front());
  if (pod == nullptr || pod->profile_key.empty()) return nullptr;
  const JobProfile* profile = store.cache->FindProfile(pod->name_space, pod->profile_key);
  const bool enough = profile != nullptr && profile->communication.runs >= kRunsThatAgree;
  return enough ? &profile->communication : nullptr;
}

// Returns whether any two of the seats may be exchanged.
bool AreAlike(const std::vector<placement::Seat>& seats) {
  return std::ranges::all_of(
      seats, [&seats](const placement::Seat& seat) { return seat.gpus.size() == seats.front().gpus.size(); });
}

// Returns why the second order is better, by the first level at which they differ.
std::string WhyBetter(const placement::State& state, const placement::Fabric& fabric,
                      const placement::MappingCost& before, const placement::MappingCost& after) {
  const auto [was, is] = std::ranges::mismatch(before, after);
  const auto level = static_cast<std::size_t>(was - before.begin()) - 1;  // the first is the time of compute
  const bool of_nodes = level == state.levels.size();
  const std::string uplink = "pods are placed by what they send to each other: the busiest uplink" +
                             (of_nodes ? " of a node" : " (" + state.levels[level] + ")");
  const bool timed = of_nodes && !fabric.speeds.empty();  // else the costs are bytes
  const double scale = timed ? 1e3 : 1;
  return uplink + (timed ? " takes " : " carries ") + text::Decimal(scale * *is) + " instead of " +
         text::Decimal(scale * *was) + (timed ? " ms" : " bytes") + " an iteration";
}

}  // namespace

placement::Fabric FabricOf(const placement::State& state, const std::vector<placement::Seat>& seats) {
  std::vector<placement::SeatPlace> places;
  for (const placement::Seat& seat : seats) {
    const auto node = std::ranges::find(state.nodes, seat.node, &placement::Node::name);
    const bool known = node != state.nodes.end();
    places.push_back({.domains = known ? node->domains : std::vector<std::string>(),
                      .node = seat.node,
                      .link = known ? node->link : 0});
  }
  return placement::FabricOf(places, state.levels.size());
}

SeatOrder OrderSeats(const GangStore& store, const GangRecord& record, const placement::State& state,
                     const placement::Gang& gang, std::vector<placement::Seat> seats) {
  SeatOrder order{.seats = std::move(seats), .why = ""};
  const Communication* known = gang.divisions.empty() ? KnownOf(store, record) : nullptr;
  const auto pods = static_cast<int>(order.seats.size());
  if (known == nullptr || known->pods != pods || !AreAlike(order.seats)) return order;
  auto flows = FlowsOf(known->groups);
  if (!flows) return order;
  const placement::Workload workload{.pods = pods, .flows = *std::move(flows)};
  const placement::Fabric fabric = FabricOf(state, order.seats);
  const std::vector<int> seat_of = MapPods(workload, fabric);
  std::vector<int> as_given(order.seats.size());
  for (int pod = 0; pod < pods; ++pod) as_given[static_cast<std::size_t>(pod)] = pod;
  if (seat_of == as_given) return order;
  std::vector<placement::Seat> mapped;
  for (const int seat : seat_of) mapped.push_back(std::move(order.seats[static_cast<std::size_t>(seat)]));
  order.seats = std::move(mapped);
  order.why = WhyBetter(state, fabric, CostOf(workload, fabric, as_given), CostOf(workload, fabric, seat_of));
  return order;
}

}  // namespace crossover::extender
