// Tests how gangs of lower rank make room for one of higher rank: claims, departures, and what a new leader
// finds of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "extender/gang/gang_stats.h"
#include "extender/gang/gangs.h"
#include "extender/gang/made_room.h"
#include "tests/unit/extender/gang/by_hand.h"
#include "tests/unit/extender/gang/made_node.h"

namespace crossover::extender {
namespace {

using Kind = Action::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Tests a ClusterCache of one node, n0, with GPU-a and GPU-b. No gang may share, so each GPU has one gang.
class PreemptionTest : public ByHand {
 protected:
  PreemptionTest() {
    PutNode(&cache_);
    now_s_ = 10'000;
  }

  // Adds a pod of a gang in the namespace `space`. Its UID is its name.
  void Add(const std::string& name, const std::string& gang, int size, int priority,
           const std::string& space = "team") {
    Pod pod;
    pod.uid = pod.name = name;
    pod.name_space = space;
    pod.created_s = now_s_;
    pod.gates = {base::kGangGate};
    pod.scheduler = base::kSchedulerName;
    pod.labels = {{"app", gang}};
    pod.annotations = {{base::kGangAnnotation, gang},
                       {base::kGangSizeAnnotation, std::to_string(size)},
                       {base::kShareAnnotation, "exclusive"}};
    pod.priority = priority;
    Container container;
    container.name = "main";
    container.slots = 1;
    pod.containers = {container};
    Put(std::move(pod));
  }
  void Run(const std::string& name, const std::string& gpu) {
    Change(name, [&](Pod& pod) {
      pod.gates.clear();
      pod.node = "n0";
      pod.running = true;
      pod.scheduled = {.yes = true, .reason = "", .message = "", .at_s = now_s_};
      pod.annotations[base::kAssignmentAnnotation] = WriteAssignment({{"main", {gpu}}});
    });
  }
  // Fills the node with two gangs of one pod.
  void Fill() {
    Add("low", "low", 1, 0);
    Run("low", "GPU-a");
    Add("mid", "mid", 1, 5);
    Run("mid", "GPU-b");
    now_s_ += 1000;
  }
  // Fills the node with one gang of two pods, l0 and l1.
  void FillWithOne() {
    for (const char* name : {"l0", "l1"}) Add(name, "low", 2, 0);
    Run("l0", "GPU-a");
    Run("l1", "GPU-b");
  }
  void Lead(GangSettings settings = {}) {
    Begin(std::move(settings));
    pending_.clear();
    now_s_ += 1;
    pending_ = gangs_->Step(now_s_);
  }
  // Lets a second pass before it does the same as that of ByHand.
  std::vector<Action> Do(Kind kind) {
    now_s_ += 1;
    return ByHand::Do(kind);
  }
  static std::vector<std::string> NamesOf(const std::vector<Action>& actions) {
    std::vector<std::string> names;
    for (const Action& action : actions) names.push_back(action.pod.name);
    return names;
  }
  std::vector<std::string> AcceptAll(Kind kind) {
    const std::vector<Action> actions = Do(kind);
    for (const Action& action : actions) Accept(action);
    return NamesOf(actions);
  }
  void Refuse(const Action& action) {
    gangs_->Written(action.id, {.outcome = Outcome::kRefused, .error = "no", .forbidden = true}, now_s_);
  }
  void Allow(const std::string& gang, int allowed) {
    Budget budget{.name_space = "team", .name = "of-" + gang, .selector = {}, .allowed = allowed};
    budget.selector.nothing = false;
    if (!gang.empty()) budget.selector.labels = {{"app", gang}};
    cache_.Put(budget);
    if (gangs_) gangs_->ClusterChanged();
  }
  // Lets "high" claim a GPU of the gang of FillWithOne(), and the eviction of l0 be accepted. Returns both
  // evictions.
  std::vector<Action> HalfLeaves() {
    FillWithOne();
    Lead();
    Add("high", "high", 1, 10);
    AcceptAll(Kind::kReserve);
    std::vector<Action> evict = Do(Kind::kEvict);
    if (!evict.empty()) Accept(evict[0]);
    return evict;
  }
  Reservation ReservationOf(const std::string& name) {
    const auto reservation = ReservationOn(*cache_.FindPod(name));
    return reservation.value_or(Reservation{});
  }
  std::uint64_t Ended(ClaimEnd end) const {
    return GangStatsOf(gangs_->store()).claims_ended[static_cast<std::size_t>(end)];
  }
  std::string Why(const std::string& name) const { return gangs_->WhyWaits(name); }
};

TEST_F(PreemptionTest, TheGangOfLeastRankLeavesAndTheClaimantGetsItsGpus) {
  Fill();
  Lead();
  Add("high", "high", 1, 10);
  // The reservation says that others have the GPU still. Only then is a pod evicted.
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u) << Why("high");
  EXPECT_TRUE(ReadReservation(reserve[0].text)->claims);
  EXPECT_EQ(ReadReservation(reserve[0].text)->seat.gpus(), std::vector<std::string>{"GPU-a"});
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  Accept(reserve[0]);
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("low"));
  EXPECT_EQ(GangStatsOf(gangs_->store()).claims, 1);
  // It has its grace period: nothing is released before it is gone.
  for (int s = 0; s < 300; ++s) EXPECT_THAT(Do(Kind::kRelease), IsEmpty());
  EXPECT_THAT(Do(Kind::kReserve), IsEmpty());
  Remove("low");
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("high"));
  EXPECT_FALSE(ReservationOf("high").claims);
  EXPECT_THAT(AcceptAll(Kind::kRelease), ElementsAre("high"));
  EXPECT_EQ(Ended(ClaimEnd::kRoomMade), 1u);
  EXPECT_EQ(GangStatsOf(gangs_->store()).gangs_left, 1u);
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty()) << "the other one stays";
}

TEST_F(PreemptionTest, NoGangLeavesWherePreemptionIsOffOrThePodSaysNever) {
  for (const bool off : {true, false}) {
    SCOPED_TRACE(off);
    Fill();
    GangSettings settings;
    settings.preemption = !off;
    Lead(settings);
    Add("high", "high", 1, 10);
    if (!off) Change("high", [](Pod& pod) { pod.preempts = false; });
    for (int s = 0; s < 100; ++s) {
      EXPECT_THAT(Do(Kind::kReserve), IsEmpty());
      EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
    }
    for (const char* name : {"low", "mid", "high"}) Remove(name);
  }
}

TEST_F(PreemptionTest, GangsOfTheSameRankStay) {
  Fill();
  Lead();
  Add("other", "other", 1, 0);
  for (int s = 0; s < 100; ++s) EXPECT_THAT(Do(Kind::kReserve), IsEmpty());
}

TEST_F(PreemptionTest, UsersAreToldWhoMakesRoomForWhomAndNoNameOfAnotherNamespace) {
  for (const char* space : {"team", "others"}) {
    SCOPED_TRACE(space);
    const bool same = std::string(space) == "team";
    Fill();
    Lead();
    Add("high", "boss", 1, 10, space);
    AcceptAll(Kind::kReserve);
    EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("low"));
    EXPECT_THAT(Why("high"), HasSubstr(same ? "have to leave them: low" : "have to leave them: another job"));
    std::string victim, claimant;
    for (const Action& action : Do(Kind::kTell)) {
      if (action.reason == "MakesRoom") victim = action.pod.name + ": " + action.text;
      if (action.reason == "GangWaits") claimant = action.text;
    }
    EXPECT_THAT(victim,
                HasSubstr(same ? "low: it makes room for boss" : "low: it makes room for another job"));
    const std::string stored = cache_.FindPod("high")->annotations.at(base::kReservationAnnotation);
    EXPECT_THAT(stored, Not(HasSubstr("low")));
    if (!same) {
      EXPECT_THAT(victim, Not(HasSubstr("boss")));
      EXPECT_THAT(claimant, Not(HasSubstr("them: low")));
    }
    for (const char* name : {"low", "mid", "high"}) Remove(name);
    gangs_.reset();
  }
}

// The gang of two takes the GPUs that both others have.
TEST_F(PreemptionTest, VictimsLeaveOneAfterTheOther) {
  Fill();
  Lead();
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1"));
  const std::vector<Action> first = Do(Kind::kEvict);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty()) << "the first eviction is not accepted yet";
  Accept(first[0]);
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("mid"));
  Remove("low");
  EXPECT_THAT(Do(Kind::kReserve), IsEmpty());
  Remove("mid");
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1"));
}

TEST_F(PreemptionTest, AtTheFirstForbiddenEvictionTheClaimIsGivenUp) {
  Fill();
  Lead();
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  AcceptAll(Kind::kReserve);
  const std::vector<Action> first = Do(Kind::kEvict);
  ASSERT_EQ(first.size(), 1u);
  Refuse(first[0]);
  EXPECT_THAT(AcceptAll(Kind::kClear), ElementsAre("h0", "h1"));
  EXPECT_EQ(Ended(ClaimEnd::kForbidden), 1u);
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  EXPECT_THAT(Why("h0"), HasSubstr("disruption budgets have kept"));
  EXPECT_THAT(Why("low"), "") << "it goes on";
  EXPECT_EQ(GangStatsOf(gangs_->store()).gangs_left, 0u);
  EXPECT_THAT(gangs_->store().made_room, IsEmpty()) << "it did not leave";
}

TEST_F(PreemptionTest, NoGangIsChosenWhoseBudgetForbidsIt) {
  Fill();
  Allow("low", 0);
  Lead();
  Add("high", "high", 1, 10);
  AcceptAll(Kind::kReserve);
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("mid"));
}

// One budget selects the pods of both gangs, and allows one eviction.
TEST_F(PreemptionTest, ABudgetOfTwoGangsHasToAllowThatBothLeave) {
  Fill();
  Allow("", 1);
  Lead();
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  for (int s = 0; s < 50; ++s) {
    EXPECT_THAT(Do(Kind::kReserve), IsEmpty());
    EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  }
  Allow("", 2);
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1"));
  EXPECT_EQ(AcceptAll(Kind::kEvict).size(), 1u);
}

TEST_F(PreemptionTest, AllPodsOfAGangLeaveOrNone) {
  FillWithOne();
  Allow("low", 1);
  Lead();
  Add("high", "high", 1, 10);
  for (int s = 0; s < 50; ++s) EXPECT_THAT(Do(Kind::kReserve), IsEmpty()) << "one of two may be evicted";
  EXPECT_THAT(Why("high"), HasSubstr("budget"));
  Allow("low", 2);
  AcceptAll(Kind::kReserve);
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("l0", "l1"));
}

// A budget is used up between the two evictions.
TEST_F(PreemptionTest, WhereABudgetKeepsHalfAGangTheOtherHalfComesBackToItsSeat) {
  const std::vector<Action> evict = HalfLeaves();
  ASSERT_EQ(evict.size(), 2u);
  Refuse(evict[1]);
  EXPECT_THAT(AcceptAll(Kind::kClear), ElementsAre("high"));
  Remove("l0");
  Add("l2", "low", 2, 0);
  EXPECT_THAT(AcceptAll(Kind::kAge), ElementsAre("l2"));
  std::vector<std::string> reserved;
  for (int s = 0; s < 40 && reserved.empty(); ++s) reserved = AcceptAll(Kind::kReserve);
  EXPECT_THAT(reserved, ElementsAre("l2")) << Why("l2") << "; " << Why("high");
  EXPECT_EQ(ReservationOf("l2").seat.gpus(), std::vector<std::string>{"GPU-a"});
}

TEST_F(PreemptionTest, AGangThatIsNotWholeOrNotPlacedStays) {
  Add("l0", "low", 2, 0);  // the other pod never came
  Run("l0", "GPU-a");
  Add("mid", "mid", 1, 50);
  Run("mid", "GPU-b");
  Lead();
  Add("high", "high", 1, 10);
  for (int s = 0; s < 50; ++s) EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
}

TEST_F(PreemptionTest, TheClaimIsGivenUpWhereAPodOfTheGangGoes) {
  Fill();
  Lead();
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  AcceptAll(Kind::kReserve);
  const std::vector<Action> first = Do(Kind::kEvict);
  ASSERT_EQ(first.size(), 1u);
  Remove("h1");
  Accept(first[0]);
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  EXPECT_EQ(Ended(ClaimEnd::kIncomplete), 1u);
  EXPECT_THAT(AcceptAll(Kind::kClear), ElementsAre("h0"));
  // Another pod comes. The GPU of the gang that left is free, so that one more gang leaves, not two.
  Remove("low");
  Add("h2", "high", 2, 10);
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h2"));
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("mid"));
}

TEST_F(PreemptionTest, AGangOfWhichAPodHasSucceededLeavesWithTheOthers) {
  FillWithOne();
  Lead();
  Change("l0", [](Pod& pod) {
    pod.running = false;
    pod.over = true;
  });
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1")) << Why("h0");
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("l1"));
  Remove("l1");
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1"));
  EXPECT_THAT(AcceptAll(Kind::kRelease), ElementsAre("h0", "h1"));
}

TEST_F(PreemptionTest, TheClaimIsGivenUpWhereItsNodeIsLost) {
  Fill();
  Lead();
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  AcceptAll(Kind::kReserve);
  ASSERT_EQ(Do(Kind::kEvict).size(), 1u);
  Cordon(true);
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  EXPECT_EQ(Ended(ClaimEnd::kSeatsLost), 1u);
}

TEST_F(PreemptionTest, TheClaimIsGivenUpWhereAGangThatWasToLeaveHasLostAPod) {
  FillWithOne();
  Lead();
  Add("high", "high", 1, 10);
  const std::vector<Action> reserve = Do(Kind::kReserve);
  ASSERT_EQ(reserve.size(), 1u);
  Remove("l1");
  Accept(reserve[0]);
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty()) << "it is not whole";
  EXPECT_EQ(Ended(ClaimEnd::kChanged), 1u);
  EXPECT_THAT(AcceptAll(Kind::kClear), ElementsAre("high"));
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  EXPECT_THAT(Why("high"), HasSubstr("has changed"));
}

TEST_F(PreemptionTest, ADepartureThatHasBegunGoesToItsEnd) {
  const std::vector<Action> evict = HalfLeaves();
  ASSERT_EQ(evict.size(), 2u);
  gangs_->Written(evict[1].id, {.outcome = Outcome::kUnknown, .error = "no answer"}, now_s_);
  Remove("high");
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("l1")) << "half of it would stay";
}

// Those that come again wait with their age, and are not made to leave again at once.
TEST_F(PreemptionTest, WhoMadeRoomKeepsItsAgeAndIsSpared) {
  Add("low", "low", 1, 0);  // at 10,000 s
  Run("low", "GPU-a");
  Add("mid", "mid", 1, 20);
  Run("mid", "GPU-b");
  now_s_ += 1000;
  Lead();
  Add("high", "high", 1, 10);
  AcceptAll(Kind::kReserve);
  AcceptAll(Kind::kEvict);
  Add("rival", "rival", 1, 0);  // it came before the pod that comes again
  Remove("low");
  AcceptAll(Kind::kReserve);
  Run("high", "GPU-a");
  Add("low-2", "low", 1, 0);
  EXPECT_THAT(AcceptAll(Kind::kAge), ElementsAre("low-2"));
  // The next leader knows what the API server stores, and no more.
  Lead();
  Remove("mid");
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("low-2"));
  AcceptAll(Kind::kRelease);
  Run("low-2", "GPU-b");
  const double placed_s = now_s_;
  Remove("rival");
  Lead();
  Add("high-2", "high-2", 1, 10);
  while (now_s_ < placed_s + 595) {
    ASSERT_THAT(Do(Kind::kReserve), IsEmpty()) << now_s_ - placed_s;
    AcceptAll(Kind::kRelease);  // its gate is lifted for autoscalers
  }
  EXPECT_THAT(Why("high-2"), HasSubstr("is not evicted again"));
  now_s_ = placed_s + 599;  // one second later it is spared no more
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("high-2")) << Why("high-2");
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("low-2"));
}

// The next leader comes at each moment of a claim. It carries the claim on, or no gang has left.
TEST_F(PreemptionTest, ANewLeaderTakesAClaimOver) {
  for (const int moment : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(moment);
    FillWithOne();
    Lead();
    for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
    std::vector<Action> actions = Do(Kind::kReserve);
    ASSERT_EQ(actions.size(), 2u);
    Accept(actions[0]);
    if (moment > 0) Accept(actions[1]);
    if (moment > 1) {
      actions = Do(Kind::kEvict);
      ASSERT_EQ(actions.size(), 2u);
      Accept(actions[0]);
      if (moment > 2) Remove("l0");
      if (moment > 3) {
        Add("l2", "low", 2, 0);
        Accept(actions[1]);
      }
    }
    Lead();
    if (moment == 0) {
      EXPECT_THAT(AcceptAll(Kind::kClear), ElementsAre("h0"));
      EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
      EXPECT_THAT(AcceptAll(Kind::kReserve), UnorderedElementsAre("h0", "h1")) << "it claims anew";
    }
    const std::vector<std::string> evicted = AcceptAll(Kind::kEvict);
    const std::vector<std::string> both = {"l0", "l1"}, rest = {"l1"}, none;
    // At moments 2 and 3 half of the gang would stay.
    EXPECT_EQ(evicted, moment < 2 ? both : moment < 4 ? rest : none);
    for (const char* name : {"l0", "l1"}) Remove(name);
    EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1"));
    EXPECT_FALSE(ReservationOf("h0").claims);
    EXPECT_THAT(AcceptAll(Kind::kRelease), ElementsAre("h0", "h1"));
    EXPECT_THAT(gangs_->store().held, IsEmpty());
    for (const char* name : {"h0", "h1", "l2"}) Remove(name);
    gangs_.reset();
  }
}

// The gang left and is placed elsewhere, when the next leader finds the claim.
TEST_F(PreemptionTest, ANewLeaderMakesNoGangLeaveTwice) {
  Fill();
  PutNode(&cache_, "n1");
  Cordon(true, "n1");
  Lead();
  for (const char* name : {"h0", "h1"}) Add(name, "high", 2, 10);
  AcceptAll(Kind::kReserve);
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("low"));
  EXPECT_THAT(AcceptAll(Kind::kEvict), ElementsAre("mid"));
  Remove("low");
  now_s_ += 5;
  Add("low-2", "low", 1, 0);
  Change("low-2", [](Pod& pod) {
    pod.gates.clear();
    pod.node = "n1";
    pod.running = true;
  });
  Lead();
  EXPECT_THAT(Do(Kind::kEvict), IsEmpty());
  Remove("mid");
  EXPECT_THAT(AcceptAll(Kind::kReserve), ElementsAre("h0", "h1"));
}

TEST(MadeRoomTest, WhatIsNoSuchTextIsNothing) {
  const MadeRoom made{.at_s = 12.5, .since_s = 3};
  EXPECT_EQ(ReadMadeRoom(WriteMadeRoom(made))->at_s, 12.5);
  EXPECT_EQ(ReadMadeRoom(WriteMadeRoom(made))->since_s, 3);
  for (const char* text : {"", "{}", "[]", "7", "{\"at\": \"1\", \"since\": 2}", "{\"at\": 1}", "{"})
    EXPECT_FALSE(ReadMadeRoom(text)) << text;
}

}  // namespace
}  // namespace crossover::extender
