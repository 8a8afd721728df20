#include "extender/gang/seat_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/text/number.h"
#include "extender/gang/planner.h"
#include "extender/profiles/workload.h"

namespace crossover::extender {
namespace {

// Returns what runs of the gang's job called, or null if too little is known.
const Communication* KnownOf(const GangStore& store, const GangRecord& record) {
  const std::vector<std::string> uids = Seatless(store, record);
  const Pod* pod = uids.empty() ? nullptr : store.cache->FindPod(uids.front());
  if (pod == nullptr || pod->profile_key.empty()) return nullptr;
  const JobProfile* profile = store.cache->FindProfileOf(*pod);
  const bool enough = profile != nullptr && profile->communication.runs >= kRunsThatAgree;
  return enough ? &profile->communication : nullptr;
}

// Returns whether any two of the seats may be exchanged.
bool AreAlike(const std::vector<placement::Seat>& seats) {
  return std::ranges::all_of(
      seats, [&seats](const placement::Seat& seat) { return seat.gpus.size() == seats.front().gpus.size(); });
}

// Returns the speed of the slowest of these GPUs of `node`, or 0 if that of one model is not known.
double SpeedOf(const std::vector<std::string>& uuids, const placement::Node& node,
               const GpuSpeeds& by_model) {
  std::optional<double> slowest;
  for (const std::string& uuid : uuids) {
    const auto gpu = std::ranges::find(node.gpus, uuid, &placement::Gpu::uuid);
    const auto speed = gpu == node.gpus.end() ? by_model.end() : by_model.find(gpu->model);
    if (speed == by_model.end()) return 0;
    slowest = std::min(slowest.value_or(speed->second), speed->second);
  }
  return slowest.value_or(0);
}

// An Orders has the costs of the order of ranks and of the better one, and in them the longest compute by the
// times that are known.
struct Orders {
  placement::MappingCost before, after;
  double longest_before_s = 0, longest_after_s = 0;
};

// Returns why the second order is better, by the first level at which they differ.
std::string WhyBetter(const placement::State& state, const placement::Fabric& fabric, const Orders& orders) {
  const auto& [before, after, longest_before_s, longest_after_s] = orders;
  const auto [was, is] = std::ranges::mismatch(before, after);
  if (was == before.begin()) {
    return "pods that compute most have the fastest GPUs: the longest compute takes " +
           text::Decimal(1e3 * longest_after_s) + " instead of " + text::Decimal(1e3 * longest_before_s) +
           " ms an iteration";
  }
  const auto level = static_cast<std::size_t>(was - before.begin()) - 1;  // behind the time of compute
  const bool of_nodes = level == state.levels.size();
  const std::string uplink = "pods are placed by what they send to each other: the busiest uplink" +
                             (of_nodes ? " of a node" : " (" + state.levels[level] + ")");
  const bool timed = of_nodes && !fabric.speeds.empty();  // else the costs are bytes
  const double scale = timed ? 1e3 : 1;
  return uplink + (timed ? " takes " : " carries ") + text::Decimal(scale * *is) + " instead of " +
         text::Decimal(scale * *was) + (timed ? " ms" : " bytes") + " an iteration";
}

}  // namespace

placement::Fabric FabricOf(const placement::State& state, const std::vector<placement::Seat>& seats,
                           const GpuSpeeds& speeds) {
  std::vector<placement::SeatPlace> places;
  for (const placement::Seat& seat : seats) {
    const auto node = std::ranges::find(state.nodes, seat.node, &placement::Node::name);
    const bool known = node != state.nodes.end();
    places.push_back({.domains = known ? node->domains : std::vector<std::string>(),
                      .node = seat.node,
                      .link = known ? node->link : 0,
                      .speed = known ? SpeedOf(seat.gpus, *node, speeds) : 0});
  }
  return placement::FabricOf(places, state.levels.size());
}

SeatOrder OrderSeats(const GangStore& store, const GangRecord& record, const placement::State& state,
                     const placement::Gang& gang, std::vector<placement::Seat> seats) {
  SeatOrder order{.seats = std::move(seats), .why = ""};
  const Communication* known = gang.divisions.empty() ? KnownOf(store, record) : nullptr;
  const auto pods = static_cast<int>(order.seats.size());
  if (known == nullptr || known->pods != pods || !AreAlike(order.seats)) return order;
  const placement::Fabric fabric = FabricOf(state, order.seats, store.settings.gpu_speeds);
  auto workload = WorkloadOf(*known, fabric);
  if (!workload) return order;
  const std::vector<int> seat_of = MapPods(*workload, fabric);
  std::vector<int> as_given(order.seats.size());
  for (int pod = 0; pod < pods; ++pod) as_given[static_cast<std::size_t>(pod)] = pod;
  if (seat_of == as_given) return order;
  std::vector<placement::Seat> mapped;
  for (const int seat : seat_of) mapped.push_back(std::move(order.seats[static_cast<std::size_t>(seat)]));
  order.seats = std::move(mapped);
  Orders orders{.before = CostOf(*workload, fabric, as_given), .after = CostOf(*workload, fabric, seat_of)};
  if (!workload->compute_s.empty()) {
    workload->compute_s = known->compute_s;
    orders.longest_before_s = CostOf(*workload, fabric, as_given).front();
    orders.longest_after_s = CostOf(*workload, fabric, seat_of).front();
  }
  order.why = WhyBetter(state, fabric, orders);
  return order;
}

}  // namespace crossover::extender
