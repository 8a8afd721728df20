// Tests which pod of a gang gets which seat, by what runs of the same job called.
#include "extender/gang/seat_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "extender/gang/reservation.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_profile.h"
#include "tests/unit/extender/gang/made_term.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kRack[] = "example.com/rack";

// Has two racks of two nodes of one GPU each, and a gang of four pods, p0 to p3, whose profile is "job".
class SeatOrderTest : public ByHand {
 protected:
  SeatOrderTest() {
    for (const char* name : {"n0", "n1", "n2", "n3"}) PutNodeIn(name, name[1] < '2' ? "r0" : "r1");
    for (const char* uid : {"p0", "p1", "p2", "p3"}) Add(uid);
  }

  void PutNodeIn(const std::string& name, const std::string& rack) {
    Node node;
    node.name = name;
    node.ready = true;
    node.labels = {{kZone, "z"}, {kRack, rack}};
    GpuNode gpus;
    gpus.name = name;
    GpuNode::Gpu gpu;
    gpu.uuid = "GPU-of-" + name;
    gpu.slots = 2;
    gpu.healthy = true;
    gpu.memory = std::uint64_t{80} << 30;
    gpus.gpus = {gpu};
    cache_.Put(node);
    cache_.Put(gpus);
  }
  void Add(const std::string& uid) {
    Pod pod;
    pod.uid = pod.name = uid;
    pod.name_space = "team";
    pod.created_s = 1000;
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    pod.profile_key = "job";
    pod.labels["app"] = "job";
    pod.annotations = {{base::kGangAnnotation, "g"}, {base::kGangSizeAnnotation, "4"}};
    pod.containers = {{.name = "main", .slots = 1}};
    Put(std::move(pod));
  }
  // Makes the profile of jobs whose pods of even numbers send much to each other, and so do the odd ones.
  Communication EvenAndOdd() const {
    return {.pods = 4,
            .runs = kRunsThatAgree,
            .groups = {{NcclFunction::kAllReduce, {0, 2}, 1000},
                       {NcclFunction::kAllReduce, {1, 3}, 1000},
                       {NcclFunction::kSend, {0, 1}, 10}}};
  }
  void Know(Communication communication) {
    JobProfile profile = MadeProfile("job");
    profile.communication = std::move(communication);
    cache_.Put(profile);
  }
  // Lets Gangs place the gang. Returns the nodes of the pods, in the order of their ranks.
  std::vector<std::string> Nodes() {
    GangSettings settings;
    settings.domains = {kZone, kRack};
    settings.gpu_speeds = gpu_speeds_;
    Begin(settings);
    std::map<std::string, std::string> nodes;
    for (const Action& action : Do(Kind::kReserve))
      nodes[action.pod.uid] = ReadReservation(action.text).value().seat.node;
    std::vector<std::string> in_order;
    for (const auto& [uid, node] : nodes) in_order.push_back(node);
    return in_order;
  }
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    for (const Action& action : Do(Kind::kTell)) {
      if (action.reason == "PodsMapped") told.push_back(action.pod.name + ": " + action.text);
    }
    return told;
  }
  void ExpectIndexOrder() {
    EXPECT_THAT(Nodes(), ElementsAre("n0", "n1", "n2", "n3"));
    EXPECT_THAT(Told(), IsEmpty());
  }

  std::map<std::string, double> gpu_speeds_;
};

TEST_F(SeatOrderTest, PodsThatSendMuchToEachOtherAreInOneRack) {
  Know(EvenAndOdd());
  const std::vector<std::string> nodes = Nodes();
  ASSERT_THAT(nodes, SizeIs(4));
  const auto rack = [this](const std::string& node) { return cache_.FindNode(node)->labels.at(kRack); };
  EXPECT_EQ(rack(nodes[0]), rack(nodes[2]));
  EXPECT_EQ(rack(nodes[1]), rack(nodes[3]));
  EXPECT_NE(rack(nodes[0]), rack(nodes[1]));
  EXPECT_THAT(std::set<std::string>(nodes.begin(), nodes.end()), SizeIs(4)) << "the seats are the same";
  EXPECT_THAT(Told(), ElementsAre("p0: pods are placed by what they send to each other: the busiest uplink "
                                  "(example.com/rack) carries 10 instead of 2000 bytes an iteration"));
}

TEST_F(SeatOrderTest, WithoutAProfileItIsTheOrderOfIndices) { ExpectIndexOrder(); }

TEST_F(SeatOrderTest, OneRunIsNotEnough) {
  Communication once = EvenAndOdd();
  once.runs = 1;
  Know(once);
  ExpectIndexOrder();
}

// The keeper begins to count anew if a run disagrees.
TEST_F(SeatOrderTest, ARunThatDisagreesEndsIt) {
  Know(EvenAndOdd());
  Communication other = EvenAndOdd();
  other.runs = 1;
  other.groups[0].bytes *= 2;
  Know(other);
  ExpectIndexOrder();
}

TEST_F(SeatOrderTest, JobsOfAnotherNumberOfPodsSayNothing) {
  Communication more = EvenAndOdd();
  more.pods = 5;
  Know(more);
  ExpectIndexOrder();
}

TEST_F(SeatOrderTest, NothingIsToldWhereTheOrderOfIndicesIsTheBest) {
  Know({.pods = 4, .runs = kRunsThatAgree, .groups = {{NcclFunction::kAllReduce, {0, 1, 2, 3}, 1000}}});
  ExpectIndexOrder();
}

TEST_F(SeatOrderTest, ConstraintsBetweenPodsKeepTheOrderOfIndices) {
  Know(EvenAndOdd());
  for (const char* uid : {"p0", "p1", "p2", "p3"}) {
    Change(uid, [](Pod& pod) {
      pod.constraints.spread = {{.topology = kRack, .max_skew = 1, .selector = Meaning("job")}};
    });
  }
  const std::vector<std::string> nodes = Nodes();
  EXPECT_THAT(nodes, SizeIs(4));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(SeatOrderTest, SeatsOfUnequalNumbersOfGpusKeepTheirOrder) {
  Know(EvenAndOdd());
  GangSettings settings;
  settings.domains = {kZone, kRack};
  Begin(settings);
  placement::State state;
  state.nodes = {{.name = "n0", .domains = {"z", "r0"}, .gpus = {}},
                 {.name = "n2", .domains = {"z", "r1"}, .gpus = {}}};
  state.levels = {kZone, kRack};
  std::vector<placement::Seat> seats = {{"n0", {"a"}}, {"n0", {"b"}}, {"n2", {"a"}}, {"n2", {"b"}}};
  const GangStore& store = gangs_->store();
  const GangRecord& record = store.gangs.begin()->second;
  const auto nodes = [&] {
    std::vector<std::string> found;
    for (const placement::Seat& seat : OrderSeats(store, record, state, {}, seats).seats)
      found.push_back(seat.node);
    return found;
  };
  EXPECT_THAT(nodes(), ElementsAre("n0", "n2", "n0", "n2"));
  seats[3].gpus.emplace_back("c");
  EXPECT_THAT(nodes(), ElementsAre("n0", "n0", "n2", "n2"));
}

// Pod 0 sends most, to pod 1. The slow node gets a pod that sends less.
TEST_F(SeatOrderTest, TheSlowLinkGetsThePodThatSendsLeast) {
  const auto set_link = [this](const std::string& name, double link) {
    GpuNode gpus = *cache_.FindGpuNode(name);
    gpus.link_bytes_per_s = link;
    cache_.Put(gpus);
  };
  for (const char* name : {"n1", "n2", "n3"}) set_link(name, 100e6);
  set_link("n0", 50e6);
  Know({.pods = 4,
        .runs = kRunsThatAgree,
        .groups = {{NcclFunction::kSend, {0, 1}, 1'000'000}, {NcclFunction::kSend, {2, 3}, 100'000}}});
  const std::vector<std::string> nodes = Nodes();
  ASSERT_THAT(nodes, SizeIs(4));
  EXPECT_THAT(nodes[2] == "n0" || nodes[3] == "n0", true);
  EXPECT_THAT(Told(),
              ElementsAre("p0: pods are placed by what they send to each other: the busiest uplink of "
                          "a node takes 10 instead of 20 ms an iteration"));
}

// The pods of a pipeline whose last stage computes most. All but one node have slow GPUs.
class UnequalGpusTest : public SeatOrderTest {
 protected:
  UnequalGpusTest() {
    for (const char* name : {"n0", "n1", "n2", "n3"}) SetModel(name, name[1] == '1' ? "fast" : "slow");
  }
  void SetModel(const std::string& name, const std::string& model) {
    GpuNode gpus = *cache_.FindGpuNode(name);
    gpus.gpus[0].model = model;
    cache_.Put(gpus);
  }
  static Communication Pipeline(std::vector<double> compute_s) {
    return {.pods = 4,
            .runs = kRunsThatAgree,
            .groups = {{NcclFunction::kSend, {0, 1}, 1000},
                       {NcclFunction::kSend, {1, 2}, 1000},
                       {NcclFunction::kSend, {2, 3}, 1000}},
            .compute_s = std::move(compute_s)};
  }
  std::vector<std::string> NodesBy(std::map<std::string, double> speeds) {
    gpu_speeds_ = std::move(speeds);
    return Nodes();
  }
};

TEST_F(UnequalGpusTest, ThePodThatComputesMostHasTheFastestGpu) {
  Know(Pipeline({0.1, 0.1, 0.1, 0.18}));
  EXPECT_EQ(NodesBy({{"fast", 1}, {"slow", 0.5}}).at(3), "n1");
  const std::vector<std::string> told = Told();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_THAT(
      told[0],
      HasSubstr(
          "pods that compute most have the fastest GPUs: the longest compute takes 200 instead of 360 ms"));
}

TEST_F(UnequalGpusTest, TimesThatHardlyDifferDoNotCountBeforeUplinks) {
  for (const std::vector<double>& times : {std::vector{0.1001, 0.1002, 0.1003, 0.1004},
                                           {0.1009, 0.1009, 0.1009, 0.101},
                                           {0.1, 0.1, 0.1, 0.1049}}) {
    Know(Pipeline(times));
    EXPECT_THAT(NodesBy({{"fast", 1}, {"slow", 0.5}}), ElementsAre("n0", "n1", "n2", "n3")) << times.back();
    EXPECT_THAT(Told(), IsEmpty());
  }
}

TEST_F(UnequalGpusTest, WithoutTheSpeedOfAModelUplinksAloneCount) {
  Know(Pipeline({0.1, 0.1, 0.1, 0.18}));
  EXPECT_THAT(NodesBy({{"fast", 1}}), ElementsAre("n0", "n1", "n2", "n3"));
}

TEST_F(UnequalGpusTest, WithoutTheComputeOfAPodUplinksAloneCount) {
  Know(Pipeline({}));
  EXPECT_THAT(NodesBy({{"fast", 1}, {"slow", 0.5}}), ElementsAre("n0", "n1", "n2", "n3"));
}

TEST(FabricTest, SpeedsCountWhereAllAreToldAndNotAllAreAlike) {
  placement::State state;
  state.nodes = {{.name = "a", .domains = {"r0"}, .gpus = {}, .link = 5},
                 {.name = "b", .domains = {"r1"}, .gpus = {}, .link = 7},
                 {.name = "c", .domains = {"r1"}, .gpus = {}}};
  state.levels = {"rack"};
  const std::vector<placement::Seat> seats = {{"b", {}}, {"a", {}}, {"b", {}}};
  EXPECT_THAT(FabricOf(state, seats, {}).speeds, ElementsAre(ElementsAre(1, 1), ElementsAre(7, 5)));
  state.nodes[1].link = 5;
  EXPECT_THAT(FabricOf(state, seats, {}).speeds, IsEmpty()) << "all are alike";
  state.nodes[1].link = 7;
  EXPECT_THAT(FabricOf(state, {{"b", {}}, {"a", {}}, {"c", {}}}, {}).speeds, IsEmpty()) << "c tells none";
}

TEST(FabricTest, DomainsAreWithinThoseOfTheLevelBefore) {
  placement::State state;
  state.nodes = {{.name = "a", .domains = {"z0", "r0"}, .gpus = {}},
                 {.name = "b", .domains = {"z1", "r0"}, .gpus = {}},
                 {.name = "c", .domains = {"z1"}, .gpus = {}},
                 {.name = "d", .domains = {}, .gpus = {}}};
  state.levels = {"zone", "rack"};
  const auto domains =
      FabricOf(state, {{"b", {}}, {"a", {}}, {"b", {}}, {"c", {}}, {"d", {}}, {"not known", {}}}, {}).domains;
  EXPECT_THAT(domains, ElementsAre(ElementsAre(0, 1, 0, 0, 2, 2), ElementsAre(0, 1, 0, 2, 3, 3),
                                   ElementsAre(0, 1, 0, 2, 3, 4)));
}

}  // namespace
}  // namespace crossover::extender
