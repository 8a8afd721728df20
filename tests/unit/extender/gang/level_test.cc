// Tests that all pods of a gang get one level of compressed reductions where their owner leaves it to the
// cluster, also those that come later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extender/gang/reservation.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_profile.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Has two nodes of one GPU, and gangs of two pods.
class LevelTest : public ByHand {
 protected:
  LevelTest() {
    for (const char* name : {"n0", "n1"}) {
      Node node;
      node.name = name;
      node.ready = true;
      cache_.Put(node);
      GpuNode gpus;
      gpus.name = name;
      gpus.gpus = {{.uuid = std::string("GPU-of-") + name, .slots = 2, .healthy = true}};
      gpus.gpus[0].memory = std::uint64_t{80} << 30;
      cache_.Put(gpus);
    }
    Know("job", 3);
  }
  // Makes the profile of a job that computes for a second and waits for communication.
  void Know(const std::string& key, double exposed_s) {
    JobProfile profile = MadeProfile(key, std::uint64_t{20} << 30);
    profile.exposed_s = exposed_s;
    cache_.Put(profile);
  }
  void Add(const std::string& uid, const char* gang = "g", const char* level = "auto",
           const std::string& key = "job") {
    Pod pod;
    pod.uid = pod.name = uid;
    pod.name_space = "team";
    pod.created_s = 1000;
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    pod.profile_key = key;
    pod.annotations = {{base::kGangAnnotation, gang}, {base::kGangSizeAnnotation, "2"}};
    if (level != nullptr) pod.annotations[base::kShrinkAnnotation] = level;
    pod.containers = {{.name = "main", .slots = 1}};
    Put(std::move(pod));
  }
  void Lead() { Begin(GangSettings()); }
  // Carries out the reservations. Returns the level that each writes.
  std::vector<std::string> Reserve() {
    std::vector<std::string> levels;
    for (const Action& action : Do(Kind::kReserve)) {
      levels.push_back(action.shrink);
      Accept(action);
    }
    return levels;
  }
  void Bind(const std::string& uid) {
    Change(uid, [](Pod& pod) {
      pod.node = ReadReservation(pod.annotations.at(base::kReservationAnnotation)).value().seat.node;
      pod.gates.clear();
      pod.scheduled.yes = true;
      pod.scheduled.at_s = 1000;
    });
  }
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    for (const Action& action : Do(Kind::kTell)) {
      if (action.reason == "ReductionsChosen") told.push_back(action.pod.name + ": " + action.text);
    }
    return told;
  }
};

TEST_F(LevelTest, AllPodsOfAGangGetOne) {
  Add("a0");
  Add("a1");
  Lead();
  EXPECT_THAT(Reserve(), ElementsAre("q8", "q8"));
  EXPECT_EQ(
      cache_.FindPod("a0")->annotations.at(base::kShrinkWhyAnnotation),
      "its wait for communication is 3000 ms of an iteration and its compute 1000 ms; beside a job like "
      "itself a step takes 4000 ms, with bf16 2500 ms and with q8 2000 ms");
  EXPECT_THAT(Told(), ElementsAre(StartsWith("a0: crossover.dev/shrink: auto is q8: its wait for")));
  EXPECT_EQ(gangs_->store().choices, (decltype(GangStore::choices){0, 1}));
}

TEST_F(LevelTest, OnlyWhereTheOwnerLeavesIt) {
  Add("a0", "g", nullptr);
  Add("a1", "g", nullptr);
  Add("b0", "h", "bf16");
  Add("b1", "h", "bf16");
  Lead();
  EXPECT_THAT(Reserve(), AllOf(SizeIs(4), Each("")));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(LevelTest, AJobThatIsNotKnownHasNone) {
  Add("a0", "g", "auto", "new");
  Add("a1", "g", "auto", "new");
  Lead();
  EXPECT_THAT(Reserve(), ElementsAre("off:times_unknown", "off:times_unknown"));
  EXPECT_THAT(Told(), ElementsAre(HasSubstr("auto is off:times_unknown: its times are not known yet")));
}

// Two gangs of one decision see each other, whichever comes first: each would take bf16 beside one like
// itself.
TEST_F(LevelTest, GangsOfOneDecisionSeeEachOther) {
  Know("short", 1.5);
  Know("long", 0.1);
  Add("a0", "g", "auto", "short");
  Add("a1", "g", "auto", "short");
  Lead();
  EXPECT_THAT(Reserve(), ElementsAre("bf16", "bf16")) << "the control: alone";
  for (const char* uid : {"a0", "a1"})
    Change(uid, [](Pod& pod) { pod.annotations.erase(base::kReservationAnnotation); });
  JobProfile computes = MadeProfile("long", std::uint64_t{20} << 30);
  computes.compute_s = 2;
  computes.exposed_s = 0.1;
  cache_.Put(computes);
  Add("b0", "h", nullptr, "long");
  Add("b1", "h", nullptr, "long");
  Lead();
  EXPECT_THAT(Reserve(), ElementsAre("off:not_needed", "off:not_needed", "", ""));
}

// Its other ranks have the level already, and would not agree with a pod that has another.
TEST_F(LevelTest, APodThatComesAgainGetsTheOneOfTheOthers) {
  Add("a0");
  Add("a1");
  Lead();
  ASSERT_THAT(Reserve(), ElementsAre("q8", "q8"));
  for (const char* uid : {"a0", "a1"}) Bind(uid);
  Do(Kind::kBind);
  Remove("a1");
  Do(Kind::kReserve);
  Know("job", 0.5);
  Add("a2");
  EXPECT_THAT(Reserve(), ElementsAre("q8")) << "the profile says now that none is needed";
  Bind("a2");
  Remove("a2");
  Add("a3");
  Lead();
  now_s_ += 10;
  EXPECT_THAT(Reserve(), ElementsAre("q8")) << "under a new leader, too";
}

}  // namespace
}  // namespace crossover::extender
