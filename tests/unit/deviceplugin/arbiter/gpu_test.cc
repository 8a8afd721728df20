// Tests one GPU under the arbiter, with clients that are words in its page and a clock that stands still.
#include "deviceplugin/arbiter/gpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "deviceplugin/arbiter/poll_schedule.h"
#include "proto/arbiter_protocol.h"
#include "tests/unit/deviceplugin/recording_observer.h"

namespace crossover::arbiter {
namespace {

using ::testing::HasSubstr;
constexpr turn::Time kMs = base::kNsPerMs;

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    info_ = std::make_shared<GpuInfo>();
    std::string error;
    info_->uuid = "GPU-00000000-0000-0000-0000-000000000000";
    info_->page = Page::Create(&error);
    ASSERT_NE(info_->page, nullptr) << error;
    gpu_ = std::make_unique<Gpu>(info_, turn::Settings{}, Policy::kEnforce, &observer_);
  }
  turn::SlotIndex Join(const std::string& gang) {
    auto member = std::make_shared<Member>();
    member->gang = gang;
    member->known = known_;
    member->priority = priority_;
    const auto joined = gpu_->Join(member, now_);
    return std::get<std::shared_ptr<const Member>>(joined)->slot;
  }
  void MeasureOneThatIsAlone();
  turn::SlotIndex JoinLocked(const std::string& gang) {
    const turn::SlotIndex slot = Join(gang);
    Slot(slot).phase = CROSSOVER_PHASE_LOCKED;
    return slot;
  }
  // Joins with a profile and a cap on the slowdown.
  turn::SlotIndex JoinCapped(const std::string& gang, std::uint64_t id, double max_slowdown) {
    auto member = std::make_shared<Member>();
    member->id = id;
    member->gang = gang;
    member->max_slowdown = max_slowdown;
    member->known = {.busy = 20 * kMs, .away = 2 * kMs};
    return std::get<std::shared_ptr<const Member>>(gpu_->Join(member, now_))->slot;
  }
  crossover_slot& Slot(turn::SlotIndex slot) { return info_->page->slot(slot); }
  turn::Time Poll(int times = 1) {
    turn::Time next = 0;
    for (int i = 0; i < times; ++i) next = gpu_->Poll(now_ += kMs / 10);
    return next;
  }
  // Asks for a turn, and runs as far as the client's gate lets it. Returns whether the client has its turn.
  bool Enter(turn::SlotIndex slot, std::uint32_t turn) {
    const turn::TurnNumber k = turn::FirstStretch(turn);
    Slot(slot).ready = k;
    if (!turn::AtOrPast(Slot(slot).gate, k)) return false;
    Slot(slot).hold = k;
    Slot(slot).gate = turn::LastStretch(k);
    return true;
  }
  void Release(turn::SlotIndex slot, std::uint32_t turn) {
    const turn::TurnNumber k = turn::FirstStretch(turn);
    const turn::SlotIndex next = Slot(slot).successor[0];
    Slot(next).gate = turn::OpenFor(slot, k, next, Slot(next).ready);
    Slot(slot).rel = k;
  }

  // Join() gives these to the client.
  turn::Demand known_ = {.busy = 20 * kMs, .away = 10 * kMs};
  crossover_priority priority_ = CROSSOVER_PRIORITY_NORMAL;
  std::shared_ptr<GpuInfo> info_;
  RecordingObserver observer_;
  std::unique_ptr<Gpu> gpu_;
  turn::Time now_ = 1'000 * kMs;
};

TEST_F(GpuTest, OneThatIsToBeWatchedOnlyUngatesAll) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Poll();
  ASSERT_EQ(Slot(a).mode, CROSSOVER_MODE_GATE);
  gpu_->Members()[1]->observed = true;
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(Slot(b).mode, CROSSOVER_MODE_OBSERVE);
  gpu_->Members()[1]->observed = false;
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_GATE);
}

TEST_F(GpuTest, ANewcomerIsObservedAtOnce) {
  const turn::SlotIndex slot = Join("a");
  EXPECT_EQ(Slot(slot).mode, CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(observer_.Count(EventKind::kJoin), 1u);
}

TEST_F(GpuTest, ANewcomerUngatesTheOthersBeforeItIsWelcome) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Poll();
  ASSERT_EQ(Slot(a).mode, CROSSOVER_MODE_GATE);
  ASSERT_EQ(Slot(b).mode, CROSSOVER_MODE_GATE);
  Join("c");
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(Slot(b).mode, CROSSOVER_MODE_OBSERVE);
}

TEST_F(GpuTest, GatedClientsHandOverToEachOther) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Poll();
  EXPECT_EQ(Slot(a).successor[0], b);
  EXPECT_EQ(Slot(b).successor[0], a);
  EXPECT_EQ(Slot(a).generation, Slot(b).generation);
  EXPECT_EQ(observer_.Count(EventKind::kMode), 2u);
}

TEST_F(GpuTest, ALeaverIsNoSuccessor) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Poll();
  const std::uint32_t generation = Slot(a).generation;
  gpu_->Leave(b, now_);
  Poll();
  EXPECT_EQ(Slot(a).successor[0], a);
  EXPECT_NE(Slot(a).generation, generation);
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(Slot(b).mode, CROSSOVER_MODE_OFF) << "a process that still maps the slot stops";
}

TEST_F(GpuTest, OneEntersAndTheOtherFollowsWithoutTheArbiter) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Slot(a).ready = turn::FirstStretch(1);
  Poll(4);
  ASSERT_TRUE(Enter(a, 1));
  Poll();
  EXPECT_FALSE(Enter(b, 1));
  Poll();
  Release(a, 1);
  EXPECT_TRUE(Enter(b, 1)) << "no poll in between";
}

// After a small collective the client is back before all others, so this turn names the client itself as
// successor. Its other turn does not.
TEST_F(GpuTest, EachTurnOfAnIterationHasItsOwnSuccessor) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Slot(a).turns = 2;
  Slot(a).ready = turn::FirstStretch(1);
  Poll(4);
  ASSERT_TRUE(Enter(a, 1));
  Poll();
  Slot(a).successor[turn::PositionOf(turn::FirstStretch(1), 2)] = a;
  Slot(a).gate = turn::FirstStretch(2);
  Slot(a).rel = turn::FirstStretch(1);
  Poll();
  ASSERT_TRUE(Enter(a, 2));
  Poll();
  EXPECT_EQ(Slot(a).successor[turn::PositionOf(turn::FirstStretch(1), 2)], a);
  EXPECT_EQ(Slot(a).successor[turn::PositionOf(turn::FirstStretch(2), 2)], b);
}

TEST_F(GpuTest, AHolderThatLeavesMakesRoomForTheWaiter) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  const turn::SlotIndex c = JoinLocked("c");
  Slot(a).ready = turn::FirstStretch(1);
  Poll(4);
  ASSERT_TRUE(Enter(a, 1));
  Slot(c).ready = turn::FirstStretch(1);
  Poll();
  EXPECT_FALSE(Enter(c, 1));
  gpu_->Leave(a, now_);
  Poll(60);  // the first turn of these two is kept for b for a moment
  EXPECT_TRUE(Enter(c, 1));
  EXPECT_EQ(Slot(c).mode, CROSSOVER_MODE_GATE);
  EXPECT_FALSE(turn::AtOrPast(Slot(b).gate, turn::FirstStretch(1)));
}

TEST_F(GpuTest, TheLiveSwitchOpensTheGatesOfThoseWhoWait) {
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Slot(a).ready = turn::FirstStretch(1);
  Poll(4);
  ASSERT_TRUE(Enter(a, 1));
  Poll();
  ASSERT_FALSE(Enter(b, 1));
  EXPECT_TRUE(gpu_->AnyWaits());
  gpu_->set_policy(Policy::kOff);
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OFF);
  EXPECT_EQ(Slot(b).mode, CROSSOVER_MODE_OFF);
  EXPECT_FALSE(gpu_->AnyWaits());
  EXPECT_TRUE(Enter(b, 1));
  // Turns that b had enqueued before it saw the switch are let through as well.
  Slot(b).rel = turn::FirstStretch(1);
  Enter(b, 2);
  Poll();
  EXPECT_TRUE(Enter(b, 2));
}

TEST_F(GpuTest, AnOffenderEndsTheTakingOfTurnsUntilItLeaves) {
  turn::Settings settings;
  settings.watchdog.floor = 5 * kMs;
  settings.watchdog.offences = 1;
  gpu_->set_settings(settings);
  const turn::SlotIndex a = JoinLocked("a");
  const turn::SlotIndex b = JoinLocked("b");
  Slot(a).ready = turn::FirstStretch(1);
  Poll(4);
  ASSERT_TRUE(Enter(a, 1));
  Poll(2);
  Slot(a).rel = turn::FirstStretch(1);  // now the length of its turns is known
  Poll(4);
  Slot(a).ready = turn::FirstStretch(2);
  Poll(4);
  ASSERT_TRUE(Enter(a, 2));
  Slot(b).ready = turn::FirstStretch(1);
  Poll(200);
  EXPECT_EQ(observer_.Count(EventKind::kOpen), 1u);
  EXPECT_EQ(observer_.Count(EventKind::kOffend), 1u);
  EXPECT_EQ(Slot(b).mode, CROSSOVER_MODE_OBSERVE);
  ASSERT_EQ(observer_.lines.size(), 1u);
  EXPECT_THAT(observer_.lines[0], HasSubstr("gang a held its turn too long"));
  gpu_->Leave(a, now_);
  JoinLocked("c");
  Poll();
  EXPECT_EQ(Slot(b).mode, CROSSOVER_MODE_GATE);
}

void GpuTest::MeasureOneThatIsAlone() {
  const turn::SlotIndex a = Join("a");
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE) << "it is still learning";
  Slot(a).phase = CROSSOVER_PHASE_LOCKED;
  Poll();
  for (std::uint32_t k = 1; k <= turn::TimingModel::kEnoughTurns; ++k) {
    EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_GATE) << "turn " << k;
    while (!Enter(a, k)) Poll();
    Poll(200);
    EXPECT_EQ(Slot(a).successor[0], a);
    Release(a, k);
    Poll(100);
  }
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
}

TEST_F(GpuTest, WhoIsAloneAndUnknownIsMeasured) {
  known_ = {};
  MeasureOneThatIsAlone();
}

// A GPU may become slower, and a job may get another part of the batch.
TEST_F(GpuTest, WhoStaysAloneIsMeasuredAgain) {
  known_ = {.busy = 20 * kMs, .away = 10 * kMs};
  const turn::SlotIndex a = JoinLocked("a");
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE) << "its profile is known";
  Poll(200'000);
  for (std::uint32_t k = 1; k <= turn::TimingModel::kEnoughTurns; ++k) {
    ASSERT_EQ(Slot(a).mode, CROSSOVER_MODE_GATE) << "turn " << k;
    while (!Enter(a, k)) Poll();
    Poll(220);
    Release(a, k);
    ++Slot(a).periods;
    Poll(100);
  }
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
  const auto last = std::find_if(observer_.events.rbegin(), observer_.events.rend(),
                                 [](const Event& event) { return event.demand.known(); });
  ASSERT_NE(last, observer_.events.rend());
  EXPECT_NEAR(static_cast<double>(last->demand.busy), 22e6, 0.5e6) << "a tenth more than its profile says";
  EXPECT_NEAR(static_cast<double>(last->demand.away), 10e6, 0.5e6);
}

TEST_F(GpuTest, WhereNoneTakesTurnsWithOthersTheyAreMeasuredToo) {
  known_ = {};
  gpu_->set_policy(Policy::kObserve);
  MeasureOneThatIsAlone();
  JoinLocked("b");
  Poll();
  EXPECT_EQ(Slot(0).mode, CROSSOVER_MODE_OBSERVE) << "of two neither is measured";
}

TEST_F(GpuTest, NoneIsMeasuredInTimeSlicesOrWhereAProcessTakesNoPart) {
  known_ = {};
  const turn::SlotIndex a = JoinLocked("a");
  Slot(a).turns_last = 1;
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
  Slot(a).turns_last = 0;
  gpu_->set_held(true);
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_OBSERVE);
  gpu_->set_held(false);
  Poll();
  EXPECT_EQ(Slot(a).mode, CROSSOVER_MODE_GATE) << "the control";
}

// The profiles tell the arbiter what the jobs need, so it refuses the cap at once.
TEST_F(GpuTest, ACapThatCannotBeKeptIsRefusedWithTheReason) {
  const turn::SlotIndex a = JoinCapped("a", 7, 1.2);
  Poll();
  EXPECT_TRUE(gpu_->TakeNotices().empty());
  JoinCapped("b", 8, 1.2);
  Poll(2);
  EXPECT_EQ(observer_.Count(EventKind::kRefuseCap), 1u);
  const auto notices = gpu_->TakeNotices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].client, 8u);
  EXPECT_THAT(notices[0].text, HasSubstr("beside a (1.20)"));
  EXPECT_THAT(observer_.lines.back(), HasSubstr("gang b: max-slowdown 1.20 refused"));

  gpu_->Leave(a, now_);
  Poll();
  EXPECT_EQ(observer_.Count(EventKind::kGrantCap), 1u);
  EXPECT_EQ(gpu_->TakeNotices().at(0).text, "max-slowdown is kept from now on");
}

// Turns last if the page says so of any client.
TEST_F(GpuTest, WhereTurnsLastCapsAreJudgedByWholeTurns) {
  const turn::SlotIndex a = JoinCapped("a", 7, 2.2);
  JoinCapped("b", 8, 2.2);
  Poll(2);
  EXPECT_EQ(observer_.Count(EventKind::kRefuseCap), 0u);
  Slot(a).turns_last = 1;
  Poll(2);
  EXPECT_EQ(observer_.Count(EventKind::kRefuseCap), 0u) << "twice slower, and a tenth to spare";
  JoinCapped("c", 9, 0);
  Poll(2);
  EXPECT_EQ(observer_.Count(EventKind::kRefuseCap), 2u);
  EXPECT_THAT(gpu_->TakeNotices().at(0).text, HasSubstr("without MPS"));
}

TEST_F(GpuTest, ASlotIsCleanForItsNextClient) {
  for (turn::SlotIndex slot = 0; slot < turn::kMaxSlots; ++slot)
    Slot(slot).turns_last = Slot(slot).turn_launches = 9;
  const turn::SlotIndex slot = Join("a");
  EXPECT_EQ(Slot(slot).turns_last, 0u);
  EXPECT_EQ(Slot(slot).turn_launches, 0u);
}

TEST_F(GpuTest, RefusesWhatTheMembershipRefuses) {
  Join("a");
  auto again = std::make_shared<Member>();
  again->gang = "a";
  const auto outcome = gpu_->Join(again, now_);
  EXPECT_TRUE(std::holds_alternative<Membership::Refusal>(outcome));
}

TEST_F(GpuTest, IsLookedAtOftenOnlyWhereItMatters) {
  EXPECT_EQ(Poll(), turn::kNever);
  const turn::SlotIndex a = Join("a");
  EXPECT_EQ(Poll() - now_, 100 * kMs);
  const turn::SlotIndex b = Join("b");
  EXPECT_EQ(Poll() - now_, 10 * kMs);
  Slot(a).phase = Slot(b).phase = CROSSOVER_PHASE_LOCKED;
  EXPECT_LE(Poll() - now_, kMs);
  EXPECT_GE(Poll() - now_, kShortestPoll);
  EXPECT_GT(info_->page->get()->arbiter_beat, 0u);
}

TEST_F(GpuTest, TellsHowLongIterationsTake) {
  const turn::SlotIndex a = JoinLocked("a");
  Poll();
  for (int i = 0; i < 10; ++i) {
    Slot(a).periods += 2;
    Poll(200);
  }
  EXPECT_EQ(observer_.Count(EventKind::kStep), 8u) << "two in the first 0.1 ms are not believed";
  const Event& last = observer_.events.back();
  EXPECT_EQ(last.kind, EventKind::kStep);
  EXPECT_EQ(last.member->gang, "a");
  EXPECT_EQ(last.steps, 2u);
  EXPECT_EQ(last.duration, 10 * kMs);
}

TEST_F(GpuTest, TellsWhatAnIterationNeedsWhileTurnsAreTaken) {
  known_ = {.busy = kMs, .away = kMs};  // of another job that had its name
  const turn::SlotIndex a = JoinLocked("a");
  Poll();
  const auto iterations = [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t k = first; k <= last; ++k) {
      while (!Enter(a, k)) Poll();
      Poll(200);
      Release(a, k);
      ++Slot(a).periods;
      Poll(100);
    }
  };
  iterations(1, 5);
  EXPECT_FALSE(observer_.events.back().demand.known()) << "no client takes turns";
  JoinLocked("b");
  Poll();
  iterations(6, 30);
  const auto last = std::find_if(observer_.events.rbegin(), observer_.events.rend(),
                                 [](const Event& event) { return event.kind == EventKind::kStep; });
  ASSERT_NE(last, observer_.events.rend());
  ASSERT_TRUE(last->demand.known());
  EXPECT_NEAR(static_cast<double>(last->demand.busy), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(last->demand.away), 10e6, 0.5e6);
  EXPECT_GE(last->jitter, 0);
  EXPECT_LT(last->jitter, 0.05);
}

TEST_F(GpuTest, CountsNoIterationsWhileItIsSwitchedOff) {
  const turn::SlotIndex a = JoinLocked("a");
  for (const Policy policy : {Policy::kObserve, Policy::kOff, Policy::kObserve}) {
    gpu_->set_policy(policy);
    observer_.events.clear();
    for (int i = 0; i < 10; ++i) {
      ++Slot(a).periods;
      Poll(100);
    }
    EXPECT_EQ(observer_.Count(EventKind::kStep) > 0, policy == Policy::kObserve);
  }
}

TEST_F(GpuTest, ANewcomerOnTheSameSlotCountsFromTheStart) {
  for (std::uint32_t round = 1; round <= 2 * CROSSOVER_MAX_CLIENTS; ++round) {
    const turn::SlotIndex a = JoinLocked("a");
    observer_.events.clear();
    Slot(a).periods = 10 * round;  // as if it went on where the one before it on the slot ended
    Poll(1000);
    ++Slot(a).periods;
    Poll(100);
    EXPECT_EQ(observer_.Count(EventKind::kStep), 0u) << round;
    gpu_->Leave(a, now_);
  }
}

// The two jobs never communicate. Each takes 10 ms of compute, one after the other by turns, or both at
// once without turns.
class GuardedGpuTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    gpu_->set_guard(true);
    for (turn::SlotIndex& slot : slots_) slot = JoinLocked(slot == 0 ? "a" : "b");
    Poll();
  }
  void Run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      if (Slot(slots_[0]).mode != CROSSOVER_MODE_GATE) {
        Poll(100);
        for (const turn::SlotIndex slot : slots_) ++Slot(slot).iteration;
        continue;
      }
      for (const turn::SlotIndex slot : slots_) {
        Poll(2);
        if (Enter(slot, turn_[slot] + 1)) Compute(slot);
      }
    }
  }
  void Compute(turn::SlotIndex slot) {
    ++turn_[slot];
    Poll(100);
    Release(slot, turn_[slot]);
    ++Slot(slot).iteration;
    Slot(slot).ready = turn::FirstStretch(turn_[slot] + 1);  // it asks at once
  }
  turn::SlotIndex slots_[2] = {0, 1};
  std::uint32_t turn_[turn::kMaxSlots] = {};
};

TEST_F(GuardedGpuTest, JobsThatRunBetterSideBySideAreLet) {
  Run(1200);
  EXPECT_GE(observer_.stats.trials, 1u);
  EXPECT_GE(observer_.Count(EventKind::kMeasure), 2u) << "what each takes alone";
  EXPECT_EQ(Slot(slots_[0]).mode, CROSSOVER_MODE_OBSERVE);
  ASSERT_FALSE(observer_.lines.empty());
  EXPECT_THAT(observer_.lines[0], HasSubstr("its jobs run side by side now: by turns "));
}

TEST_F(GuardedGpuTest, WithoutTheGuardTurnsAreTakenWhateverTheyCost) {
  gpu_->set_guard(false);
  Run(600);
  EXPECT_EQ(Slot(slots_[0]).mode, CROSSOVER_MODE_GATE);
  EXPECT_EQ(observer_.stats.trials, 0u);
}

// A higher priority is a promise that only turns can keep.
TEST_F(GuardedGpuTest, TurnsAreTakenWherePrioritiesDiffer) {
  gpu_->Leave(slots_[1], now_);
  priority_ = CROSSOVER_PRIORITY_HIGH;
  slots_[1] = JoinLocked("b");
  Run(600);
  EXPECT_EQ(observer_.stats.trials, 0u);
}

// Clients whose turns last are told of slices before they take a turn. The arbiter itself gives no job the
// GPU for several turns: only clients know at which iteration all ranks can hand over.
TEST_F(GuardedGpuTest, JobsWhoseTurnsLastKeepThemInSlicesButHaveNoOwner) {
  EXPECT_EQ(Slot(slots_[0]).slice_bits, 0u);
  Slot(slots_[1]).turns_last = 1;
  for (int round = 0; round < 600; ++round) {
    Run(1);
    ASSERT_LE(std::max(turn_[slots_[0]], turn_[slots_[1]]) - std::min(turn_[slots_[0]], turn_[slots_[1]]),
              1u);
  }
  EXPECT_GE(observer_.stats.trials, 1u);
  for (const turn::SlotIndex slot : slots_) EXPECT_EQ(Slot(slot).slice_bits, turn::kSliceBits);
}

TEST_F(GuardedGpuTest, NoSlicesWhereACapOrAPriorityOrTheConfigurationSaysSo) {
  const auto bits = [this] {
    Poll();
    return Slot(slots_[0]).slice_bits;
  };
  Slot(slots_[0]).turns_last = 1;
  EXPECT_EQ(bits(), turn::kSliceBits);
  gpu_->set_guard(false);
  EXPECT_EQ(bits(), 0u);
  gpu_->set_guard(true);
  priority_ = CROSSOVER_PRIORITY_HIGH;
  const turn::SlotIndex high = JoinLocked("c");
  EXPECT_EQ(bits(), 0u);
  gpu_->Leave(high, now_);
  EXPECT_EQ(bits(), turn::kSliceBits);
  JoinCapped("d", 9, 9.0);
  EXPECT_EQ(bits(), 0u);
}

// The arbiter neither crashes nor reads outside the page, whatever clients write into it.
TEST_F(GpuTest, SurvivesAPageOfGarbage) {
  gpu_->set_guard(true);
  for (const char* gang : {"a", "b", "c"}) JoinLocked(gang);
  std::uint32_t state = 12345;
  auto* words = reinterpret_cast<std::uint32_t*>(info_->page->get());
  for (int round = 0; round < 3000; ++round) {
    for (int i = 0; i < 8; ++i) {
      state = state * 1664525u + 1013904223u;
      const std::size_t word = (state >> 8) % (sizeof(crossover_page) / 4);
      words[word] = (state & 1) != 0 ? state : state % 4;
    }
    for (turn::SlotIndex slot = 0; slot < 3; ++slot) Slot(slot).phase = CROSSOVER_PHASE_TAKING;
    Poll();
  }
  for (turn::SlotIndex slot = 0; slot < 3; ++slot) EXPECT_LT(Slot(slot).successor[0], turn::kMaxSlots);
}

}  // namespace
}  // namespace crossover::arbiter
