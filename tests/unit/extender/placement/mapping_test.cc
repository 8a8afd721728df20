// Tests which pod of a gang gets which of its seats.
#include "extender/placement/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace crossover::placement {
namespace {

using testing::ElementsAre;

// Returns a ring over these pods, each of which sends so many bytes to the next one.
std::vector<Flow> Ring(const std::vector<int>& pods, Bytes bytes) {
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < pods.size(); ++i)
    flows.push_back({.from = pods[i], .to = pods[(i + 1) % pods.size()], .bytes = bytes});
  return flows;
}

std::vector<int> InOrder(int pods) {
  std::vector<int> order(static_cast<std::size_t>(pods));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

MappingCost LeastOf(const Workload& workload, const Fabric& fabric) {
  std::vector<int> seat_of = InOrder(workload.pods);
  MappingCost least = CostOf(workload, fabric, seat_of);
  while (std::ranges::next_permutation(seat_of).found)
    least = std::min(least, CostOf(workload, fabric, seat_of));
  return least;
}

TEST(MappingCostTest, CountsWhatCrossesAnUplinkInTheBusierDirection) {
  const Workload workload{.pods = 3, .flows = {{0, 1, 10}, {1, 0, 4}, {0, 2, 5}, {2, 2, 99}}};
  const Fabric fabric{.domains = {{0, 0, 1}, {0, 1, 2}}};
  EXPECT_THAT(CostOf(workload, fabric, {0, 1, 2}), ElementsAre(0, 5, 15)) << "pod 0 sends 15 from its node";
  EXPECT_THAT(CostOf(workload, fabric, {0, 2, 1}), ElementsAre(0, 10, 15));
}

TEST(MappingCostTest, SpeedsOfLinksAndSeatsCount) {
  const Workload workload{.pods = 2, .flows = {{0, 1, 12}}, .compute_s = {1, 2}};
  Fabric fabric{.domains = {{0, 1}}, .speeds = {{4, 3}}, .seat_speeds = {0.5, 1}};
  EXPECT_THAT(CostOf(workload, fabric, {0, 1}), ElementsAre(2, 4)) << "the slower end of the link";
  EXPECT_THAT(CostOf(workload, fabric, {1, 0}), ElementsAre(4, 4));
  EXPECT_THAT(MapPods(workload, fabric), ElementsAre(0, 1));
  fabric.seat_speeds = {1, 0.5};
  EXPECT_THAT(MapPods(workload, fabric), ElementsAre(1, 0)) << "the longer stage has the faster GPU";
}

TEST(MapPodsTest, PodsThatSendMuchToEachOtherGetSeatsOfOneRack) {
  Workload workload{.pods = 4, .flows = Ring({0, 2}, 100)};
  for (const Flow& flow : Ring({1, 3}, 100)) workload.flows.push_back(flow);
  for (const Flow& flow : Ring({0, 1}, 1)) workload.flows.push_back(flow);
  const Fabric fabric{.domains = {{0, 0, 1, 1}, {0, 1, 2, 3}}};
  const std::vector<int> seat_of = MapPods(workload, fabric);
  EXPECT_THAT(CostOf(workload, fabric, seat_of), ElementsAre(0, 1, 101));
  EXPECT_EQ(seat_of[0] / 2, seat_of[2] / 2);
  EXPECT_EQ(seat_of[1] / 2, seat_of[3] / 2);
}

TEST(MapPodsTest, TheOrderOfRanksStaysWhereNothingIsBetter) {
  EXPECT_THAT(MapPods({.pods = 4, .flows = {}}, {.domains = {{0, 1, 0, 1}}}), ElementsAre(0, 1, 2, 3));
  const Workload ring{.pods = 12, .flows = Ring(InOrder(12), 7)};
  const Fabric racks{.domains = {{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}}};
  EXPECT_EQ(MapPods(ring, racks), InOrder(12));
  EXPECT_THAT(MapPods({.pods = 0, .flows = {}}, {.domains = {{}}}), ElementsAre());
}

class Drawn {
 public:
  explicit Drawn(unsigned seed) : random_(seed) {}
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  Workload Gang(int pods) {
    Workload workload{.pods = pods, .flows = {}};
    const int flows = 1 + Below(3 * pods);
    for (int i = 0; i < flows; ++i)
      workload.flows.push_back({Below(pods), Below(pods), static_cast<Bytes>(1 + Below(50))});
    return workload;
  }
  Fabric Seats(int pods) {
    Fabric fabric{.domains = {{}, {}}};
    for (int seat = 0; seat < pods; ++seat) {
      const int node = seat / 2;
      fabric.domains[0].push_back(node / 2);
      fabric.domains[1].push_back(node);
    }
    return fabric;
  }

 private:
  std::mt19937 random_;
};

TEST(MapPodsTest, FewPodsCostTheLeastOfAllMappings) {
  Drawn drawn(5);
  for (int trial = 0; trial < 40; ++trial) {
    const int pods = 2 + drawn.Below(5);
    const Workload workload = drawn.Gang(pods);
    const Fabric fabric = drawn.Seats(pods);
    EXPECT_EQ(CostOf(workload, fabric, MapPods(workload, fabric)), LeastOf(workload, fabric)) << trial;
  }
}

TEST(MapPodsTest, ManyPodsNeverCostMoreThanInOrder) {
  Drawn drawn(6);
  for (int trial = 0; trial < 20; ++trial) {
    const int pods = 9 + drawn.Below(30);
    const Workload workload = drawn.Gang(pods);
    const Fabric fabric = drawn.Seats(pods);
    std::vector<int> seat_of = MapPods(workload, fabric);
    EXPECT_LE(CostOf(workload, fabric, seat_of), CostOf(workload, fabric, InOrder(pods))) << trial;
    std::ranges::sort(seat_of);
    EXPECT_EQ(seat_of, InOrder(pods)) << "each seat once";
  }
}

}  // namespace
}  // namespace crossover::placement
