// Tests ClientStats with events as the arbiter would send them, and with a clock that stands still.
#include "deviceplugin/stats/client_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace crossover::deviceplugin {
namespace {

using arbiter::EventKind;
using MemberPtr = std::shared_ptr<const arbiter::Member>;
constexpr turn::Time kMs = base::kNsPerMs;
constexpr turn::Time kSecond = base::kNsPerSecond;

class ClientStatsTest : public ::testing::Test {
 protected:
  MemberPtr Join(const std::string& gang, int gpu = 0, std::uint32_t uid = 1000) {
    auto member = std::make_shared<arbiter::Member>();
    member->id = ++last_id_;
    member->gpu = Gpu(gpu);
    member->gang = gang;
    member->gang_size = 2;
    member->uid = uid;
    Tell(EventKind::kJoin, member);
    words_[member->id] = Words(CROSSOVER_MODE_GATE, CROSSOVER_PHASE_TAKING);
    return member;
  }
  static SlotSnapshot Words(std::uint32_t mode, std::uint32_t phase) {
    SlotSnapshot words{};
    words.mode = mode;
    words.phase = phase;
    return words;
  }
  std::shared_ptr<const arbiter::GpuInfo> Gpu(int number) {
    auto& gpu = gpus_[number];
    if (gpu == nullptr) {
      gpu = std::make_shared<arbiter::GpuInfo>();
      gpu->uuid = "GPU-" + std::to_string(number);
    }
    return gpu;
  }
  void Tell(EventKind kind, const MemberPtr& member, turn::Time duration = 0, std::uint32_t mode = 0) {
    client_stats_.OnEvent(
        {.kind = kind, .at = now_, .gpu = member->gpu, .member = member, .duration = duration, .mode = mode});
  }
  void Steps(std::vector<MemberPtr> members, turn::Time each, int count = 20) {
    for (int i = 0; i < count; ++i) {
      now_ += each;
      for (const MemberPtr& member : members) {
        client_stats_.OnEvent({.kind = EventKind::kStep,
                               .at = now_,
                               .gpu = member->gpu,
                               .member = member,
                               .duration = each,
                               .steps = 1,
                               .demand = estimate_,
                               .jitter = jitter_});
      }
    }
  }
  // Reports that the member asks, waits, holds, and gives back.
  void Turn(const MemberPtr& member, turn::Time wait, turn::Time hold) {
    Tell(EventKind::kArrive, member);
    now_ += wait;
    Tell(EventKind::kHold, member, wait);
    now_ += hold;
    Tell(EventKind::kRelease, member, hold);
  }
  std::vector<GpuView> Gpus() {
    return client_stats_.Gpus(now_, [this](const arbiter::Member& member) { return words_[member.id]; });
  }
  ClientView Client(const MemberPtr& member) {
    for (const GpuView& gpu : Gpus()) {
      for (const ClientView& client : gpu.clients) {
        if (client.member == member) return client;
      }
    }
    ADD_FAILURE() << member->gang << " has no statistics";
    return {};
  }

  ClientStats client_stats_;
  std::map<int, std::shared_ptr<arbiter::GpuInfo>> gpus_;
  std::map<std::uint64_t, SlotSnapshot> words_;
  turn::Demand estimate_;
  double jitter_ = -1;
  std::uint64_t last_id_ = 0;
  turn::Time now_ = 1000 * kSecond;
};

TEST_F(ClientStatsTest, CountsTurnsAndSaysWhatTheyAreLike) {
  const MemberPtr a = Join("a");
  for (int i = 0; i < 3; ++i) Turn(a, 4 * kMs, 20 * kMs);
  const ClientView client = Client(a);
  EXPECT_EQ(client.turns, 3u);
  EXPECT_EQ(client.wait, 4 * kMs);
  EXPECT_EQ(client.hold, 20 * kMs);
}

TEST_F(ClientStatsTest, SaysSinceWhenAClientHoldsOrWaits) {
  const MemberPtr a = Join("a");
  const MemberPtr b = Join("b");
  Tell(EventKind::kHold, a, 0);
  words_[a->id].holding = true;
  now_ += 5 * kMs;
  Tell(EventKind::kArrive, b);
  words_[b->id].waiting = true;
  now_ += 2 * kMs;
  EXPECT_EQ(Client(a).holds_for, 7 * kMs);
  EXPECT_EQ(Client(b).waits_for, 2 * kMs);
  words_[a->id].holding = false;  // the page knows before the events come
  EXPECT_FALSE(Client(a).holds_for);
}

TEST_F(ClientStatsTest, WhatAJobTakesAloneIsKeptWhileItShares) {
  const MemberPtr a = Join("a");
  Steps({a}, 30 * kMs);
  EXPECT_EQ(Client(a).alone->each, 30 * kMs);
  EXPECT_FALSE(Client(a).slowdown) << "it shares with none";
  const MemberPtr b = Join("b");
  Steps({a, b}, 40 * kMs);
  const ClientView client = Client(a);
  EXPECT_TRUE(client.shares);
  EXPECT_EQ(client.alone->each, 30 * kMs);
  EXPECT_EQ(client.alone->source, StepAlone::Source::kMeasured);
  EXPECT_EQ(client.alone->age, 20 * 40 * kMs);
  EXPECT_EQ(client.step, 40 * kMs);
  EXPECT_DOUBLE_EQ(*client.slowdown, 40.0 / 30.0);
  EXPECT_FALSE(Client(b).alone);
  EXPECT_FALSE(Client(b).slowdown);
}

TEST_F(ClientStatsTest, AnIterationBegunInOtherCompanyCountsForNeither) {
  const MemberPtr a = Join("a");
  Steps({a}, 30 * kMs);
  now_ += 10 * kMs;
  const MemberPtr b = Join("b");
  now_ -= 10 * kMs;
  Steps({a}, 60 * kMs, 1);  // its beginning was alone
  EXPECT_EQ(Client(a).step, 30 * kMs) << "shown until there is another";
  EXPECT_FALSE(Client(a).slowdown) << "the time alone is no time shared";
  Steps({a}, 40 * kMs, 5);
  EXPECT_EQ(Client(a).step, 40 * kMs);
  now_ += 10 * kMs;
  Tell(EventKind::kLeave, b);
  now_ -= 10 * kMs;
  Steps({a}, 60 * kMs, 1);  // its beginning was shared
  Steps({a}, 30 * kMs, 5);
  EXPECT_EQ(Client(a).alone->each, 30 * kMs);
}

TEST_F(ClientStatsTest, AJobIsNotAloneWhereAnotherIsOnOneOfItsOtherGpus) {
  const MemberPtr a0 = Join("a", 0);
  const MemberPtr a1 = Join("a", 1);
  Join("b", 1);
  Steps({a0, a1}, 40 * kMs);
  EXPECT_TRUE(Client(a0).shares);
  EXPECT_FALSE(Client(a0).alone);
  EXPECT_FALSE(Client(a1).alone);
}

TEST_F(ClientStatsTest, AJobThatNeverRanAloneIsEstimatedAndForgotten) {
  const MemberPtr a = Join("a");
  const MemberPtr b = Join("b");
  estimate_ = {.busy = 20 * kMs, .away = 12 * kMs};
  Steps({a, b}, 40 * kMs);
  EXPECT_EQ(Client(a).alone->each, 32 * kMs);
  EXPECT_EQ(Client(a).alone->source, StepAlone::Source::kEstimated);
  EXPECT_DOUBLE_EQ(*Client(a).slowdown, 40.0 / 32);
  Tell(EventKind::kLeave, b);
  Steps({a}, 33 * kMs);
  EXPECT_EQ(Client(a).alone->source, StepAlone::Source::kMeasured) << "now it is known";
  Join("b");
  Steps({a}, 40 * kMs);
  EXPECT_EQ(Client(a).alone->each, 33 * kMs);
}

TEST_F(ClientStatsTest, WhatWasMeasuredInATrialIsBetterThanAnEstimate) {
  const MemberPtr a = Join("a");
  const MemberPtr b = Join("b");
  estimate_ = {.busy = 20 * kMs, .away = 12 * kMs};
  Steps({a, b}, 40 * kMs);
  Tell(EventKind::kMeasure, a, 31 * kMs);
  EXPECT_EQ(Client(a).alone->each, 31 * kMs);
  EXPECT_EQ(Client(a).alone->source, StepAlone::Source::kMeasured);
  EXPECT_EQ(Client(b).alone->source, StepAlone::Source::kEstimated);
  Steps({a, b}, 40 * kMs);
  EXPECT_EQ(Client(a).alone->each, 31 * kMs) << "no estimate takes its place";
  Tell(EventKind::kLeave, a);
  EXPECT_EQ(Client(Join("a")).alone->source, StepAlone::Source::kRemembered);
}

TEST_F(ClientStatsTest, GainIsTheSumOfAloneOverShared) {
  const MemberPtr a = Join("a");
  Steps({a}, 30 * kMs);
  Tell(EventKind::kLeave, a);
  const MemberPtr b = Join("b");
  Steps({b}, 20 * kMs);
  const MemberPtr again = Join("a");
  EXPECT_FALSE(Gpus().at(0).gain) << "nothing is known yet of the time they share";
  Steps({again, b}, 40 * kMs);
  EXPECT_DOUBLE_EQ(*Gpus().at(0).gain, 30.0 / 40 + 20.0 / 40);
  EXPECT_EQ(Client(again).alone->source, StepAlone::Source::kRemembered);
}

TEST_F(ClientStatsTest, AStepInFormerCompanyIsNoPresentOne) {
  const MemberPtr a = Join("a");
  Steps({a}, 20 * kMs);
  EXPECT_EQ(Client(a).present_step, 20 * kMs);
  EXPECT_EQ(Client(a).compute, std::nullopt) << "it took no turns";
  const MemberPtr b = Join("b");
  EXPECT_EQ(Client(a).step, 20 * kMs);
  EXPECT_EQ(Client(a).present_step, std::nullopt);
  estimate_ = {12 * kMs, 9 * kMs};
  Steps({a, b}, 24 * kMs);
  EXPECT_EQ(Client(a).present_step, 24 * kMs);
  EXPECT_EQ(Client(a).compute, 12 * kMs);
  EXPECT_EQ(Client(a).away, 9 * kMs);
  now_ += 60 * kSecond;
  EXPECT_EQ(Client(a).present_step, std::nullopt) << "none come any more";
}

TEST_F(ClientStatsTest, NoGainWithoutAllTimesAlone) {
  const MemberPtr a = Join("a");
  Steps({a}, 30 * kMs);
  const MemberPtr b = Join("b");
  Steps({a, b}, 40 * kMs);
  EXPECT_FALSE(Gpus().at(0).gain);
}

TEST_F(ClientStatsTest, AnotherUsersJobOfTheSameNameIsNotRemembered) {
  const MemberPtr a = Join("a", 0, 1000);
  Steps({a}, 30 * kMs);
  Tell(EventKind::kLeave, a);
  EXPECT_FALSE(Client(Join("a", 1, 1001)).alone);
  EXPECT_TRUE(Client(Join("a", 2, 1000)).alone);
}

TEST_F(ClientStatsTest, TurnsOfTheLastMoments) {
  const MemberPtr a = Join("a");
  const MemberPtr b = Join("b", 1);
  Turn(a, 4 * kMs, 20 * kMs);
  const turn::Time between = now_;
  now_ += kMs;
  Turn(b, 0, 10 * kMs);
  Tell(EventKind::kHold, a, 2 * kMs);
  auto turns = client_stats_.Turns("", 0);
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(turns[0].member, a);
  EXPECT_EQ(turns[0].ended - turns[0].began, 20 * kMs);
  EXPECT_EQ(turns[0].began - turns[0].asked, 4 * kMs);
  EXPECT_EQ(turns[1].ended, 0) << "it lasts";
  EXPECT_EQ(turns[1].asked, now_ - 2 * kMs);
  EXPECT_EQ(turns[2].member, b);
  EXPECT_EQ(client_stats_.Turns("GPU-1", 0).size(), 1u);
  EXPECT_EQ(client_stats_.Turns("", between + 1).size(), 2u);
  EXPECT_TRUE(client_stats_.Turns("GPU-7", 0).empty());
}

TEST_F(ClientStatsTest, ATurnEndsWhereItsJobIsGatedNoMore) {
  const MemberPtr a = Join("a");
  Tell(EventKind::kMode, a, 0, CROSSOVER_MODE_GATE);
  Tell(EventKind::kHold, a, 2 * kMs);
  EXPECT_EQ(client_stats_.Turns("", 0)[0].ended, 0) << "the control";
  now_ += 5 * kMs;
  Tell(EventKind::kMode, a, 0, CROSSOVER_MODE_OBSERVE);
  const auto turns = client_stats_.Turns("", 0);
  ASSERT_EQ(turns.size(), 1u);
  EXPECT_EQ(turns[0].ended, now_);
}

TEST_F(ClientStatsTest, TurnsAreBounded) {
  const MemberPtr a = Join("a");
  for (int i = 0; i < 2048 + 10; ++i) Turn(a, kMs, kMs);
  EXPECT_EQ(client_stats_.Turns("", 0).size(), 2048u);
}

TEST_F(ClientStatsTest, GpusAndMemoriesAreBounded) {
  constexpr int kJobs = 4096 + 50;
  for (int i = 0; i < kJobs; ++i) {
    const MemberPtr a = Join("gang" + std::to_string(i), i);
    Steps({a}, 10 * kMs, 6);
    Tell(EventKind::kLeave, a);
  }
  EXPECT_LE(Gpus().size(), 256u);
  EXPECT_FALSE(Client(Join("gang0")).alone) << "the oldest is forgotten";
  EXPECT_TRUE(Client(Join("gang100")).alone);
  EXPECT_TRUE(Client(Join("gang" + std::to_string(kJobs - 1))).alone);
}

TEST_F(ClientStatsTest, AGpuWithOneClientHasNoGainThoughItsJobSharesAnother) {
  const MemberPtr here = Join("a", 0), there = Join("a", 1);
  Steps({here, there}, 30 * kMs);
  Join("b", 1);
  Steps({here, there}, 40 * kMs);
  ASSERT_TRUE(Client(here).slowdown);
  for (const GpuView& gpu : Gpus()) EXPECT_FALSE(gpu.gain) << gpu.uuid;
}

// There are two jobs of two ranks each. Iteration() reports one iteration of both: the turn
// that each rank takes, and the absence that follows it.
class WholeJobsInClientStats : public ClientStatsTest {
 protected:
  void SetUp() override {
    for (const int gpu : {0, 1}) {
      a_.push_back(Join("a", gpu));
      b_.push_back(Join("b", gpu));
    }
  }
  void Iteration(turn::Time first, turn::Time second, turn::Time shared) {
    for (const auto& job : {a_, b_}) {
      const turn::Time turns[] = {first, second};
      for (std::size_t rank = 0; rank < 2; ++rank) {
        arbiter::Event event{.kind = EventKind::kRelease,
                             .at = now_,
                             .gpu = job[rank]->gpu,
                             .member = job[rank],
                             .duration = turns[rank],
                             .whole = turns[rank],
                             .iteration = number_};
        client_stats_.OnEvent(event);
        event.kind = EventKind::kArrive;
        event.whole = 12 * kMs + std::max(first, second) - turns[rank];
        client_stats_.OnEvent(event);
      }
    }
    ++number_;
    Steps({a_[0], a_[1], b_[0], b_[1]}, shared, 1);
  }
  void Measure(turn::Time alone, std::uint32_t over) {
    for (const auto& job : {a_, b_}) {
      for (const MemberPtr& rank : job) {
        client_stats_.OnEvent({.kind = EventKind::kMeasure,
                               .at = now_,
                               .gpu = rank->gpu,
                               .member = rank,
                               .duration = alone,
                               .steps = over});
      }
    }
  }
  std::vector<MemberPtr> a_, b_;
  std::uint32_t number_ = 0;
};

// In every fourth iteration one of the ranks takes three times as long: 60 ms instead of 20. Such an
// iteration takes 72 ms alone instead of 32.
TEST_F(WholeJobsInClientStats, AFewIterationsAloneDoNotOutweighHundredsOfTurns) {
  for (int i = 0; i < 200; ++i)
    Iteration(i % 8 == 0 ? 60 * kMs : 20 * kMs, i % 8 == 4 ? 60 * kMs : 20 * kMs,
              i % 4 == 0 ? 80 * kMs : 40 * kMs);
  EXPECT_NEAR(static_cast<double>(Client(a_[0]).alone->each), 42e6, 1e6);
  EXPECT_EQ(Client(a_[0]).alone->source, StepAlone::Source::kEstimated);
  EXPECT_NEAR(*Gpus()[0].gain, 2 * 42 / 50.0, 0.04);
  EXPECT_FALSE(Gpus()[0].gain_uncertain());
  Measure(32 * kMs, 4);  // none of these four had a straggler
  EXPECT_NEAR(static_cast<double>(Client(a_[0]).alone->each), 42e6, 1.5e6);
  EXPECT_EQ(Client(a_[0]).alone->source, StepAlone::Source::kMeasured);
  EXPECT_FALSE(Gpus()[0].gain_uncertain());
}

// Collectives of the other job slow each turn from 20 to 20.8 ms, and so an iteration by 2.5%. Alone, no
// turn is slowed.
TEST_F(WholeJobsInClientStats, AFewIterationsAloneCountForMoreWhereNoneDiffers) {
  for (int i = 0; i < 200; ++i) Iteration(20'800'000, 20'800'000, 41'600'000);
  EXPECT_EQ(Client(a_[0]).alone->each, 32'800'000);
  Measure(32 * kMs, 4);
  EXPECT_NEAR(static_cast<double>(Client(a_[0]).alone->each), 32e6, 0.05e6);
  EXPECT_LT(Client(a_[0]).alone->error, 0.006);
}

TEST_F(WholeJobsInClientStats, AGainThatRestsOnAFewIterationsThatDifferIsUncertain) {
  for (int i = 0; i < 8; ++i)
    Iteration(i % 2 == 0 ? 60 * kMs : 20 * kMs, 20 * kMs, i % 3 == 0 ? 120 * kMs : 40 * kMs);
  EXPECT_TRUE(Gpus()[0].gain_uncertain());
  EXPECT_GT(Gpus()[0].gain_error, GpuView::kUncertain);
}

TEST_F(WholeJobsInClientStats, AJobThatHasBecomeAnotherIsBelieved) {
  for (int i = 0; i < 100; ++i) Iteration(20 * kMs, 20 * kMs, 40 * kMs);
  Measure(32 * kMs, 4);
  for (int i = 0; i < 300; ++i) Iteration(30 * kMs, 30 * kMs, 60 * kMs);
  Measure(42 * kMs, 4);
  EXPECT_NEAR(static_cast<double>(Client(a_[0]).alone->each), 42e6, 0.1e6)
      << "what was measured before is not of it";
}

class ClientStatsProfileTest : public ClientStatsTest {
 protected:
  static JobKey JobNamed(const std::string& gang) { return {.gang = gang, .uid = 1000, .size = 2}; }
};

TEST_F(ClientStatsProfileTest, NothingIsKnownOfAJobThatShowedNothing) {
  EXPECT_FALSE(client_stats_.Profile(JobNamed("a")));
  const MemberPtr a = Join("a");
  EXPECT_TRUE(client_stats_.Here(JobNamed("a")));
  EXPECT_FALSE(client_stats_.Profile(JobNamed("a")));
  Tell(EventKind::kLeave, a);
  EXPECT_FALSE(client_stats_.Here(JobNamed("a")));
  EXPECT_FALSE(client_stats_.Profile(JobNamed("a")));
}

TEST_F(ClientStatsProfileTest, KnowsWhatTurnsAndTheDriverTell) {
  const MemberPtr a = Join("a");
  Join("b");
  estimate_ = {.busy = 20 * kMs, .away = 12 * kMs};
  jitter_ = 0.05;
  Steps({a}, 40 * kMs);
  const turn::Time learned = now_;
  estimate_ = {};  // turns end: what they told is still known
  jitter_ = -1;
  Steps({a}, 40 * kMs);
  client_stats_.NoteMemory(*a, 5000, now_);
  client_stats_.NoteMemory(*a, 7000, now_);
  client_stats_.NoteMemory(*a, 6000, now_ + 1);
  client_stats_.NoteMemory(*a, 0, now_ + 1);
  const double error = std::hypot(WholeJob::kInCompany, 2 * 0.05);  // of a rank that does not see the others
  const JobProfile expected = {.job = JobNamed("a"),
                               .step_alone = {{32 * kMs, learned, MeasurementSource::kEstimated, error}},
                               .compute = {{20 * kMs, learned, MeasurementSource::kTurns}},
                               .away = {{12 * kMs, learned, MeasurementSource::kTurns}},
                               .jitter = {{0.05, learned, MeasurementSource::kTurns}},
                               .peak_memory = {{7000, now_, MeasurementSource::kNvml}},
                               .disturbed = {}};
  EXPECT_EQ(client_stats_.Profile(JobNamed("a")), expected);
  Tell(EventKind::kLeave, a);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a")), expected) << "also when it has left";
  EXPECT_FALSE(client_stats_.Profile(JobNamed("b")));
}

TEST_F(ClientStatsProfileTest, NothingIsLearnedBesideAProcessThatIsNotHeardOf) {
  const UnregisteredProcesses unregistered = {.processes = {{77, "GPU-0"}}, .found_out = {}, .gangs = {}};
  const MemberPtr a = Join("a");
  estimate_ = {.busy = 20 * kMs, .away = 10 * kMs};
  Steps({a}, 30 * kMs);
  client_stats_.NoteUnregistered({}, now_);
  const auto good = client_stats_.Profile(JobNamed("a"));
  estimate_ = {.busy = 50 * kMs, .away = 10 * kMs};
  Steps({a}, 60 * kMs, 400);  // it came since the last look
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->step_alone->value, 60 * kMs) << "it is not known yet";
  client_stats_.NoteUnregistered(unregistered, now_);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a")), good) << "what was learned beside it is forgotten";
  Steps({a}, 60 * kMs, 400);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a")), good);
  EXPECT_TRUE(Client(a).shares);
  client_stats_.NoteUnregistered({}, now_);
  Steps({a}, 33 * kMs);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->step_alone->value, 33 * kMs);
  EXPECT_FALSE(client_stats_.Profile(JobNamed("a"))->disturbed) << "it was not found out";
}

TEST_F(ClientStatsProfileTest, JobsBesideAProcessThatWasFoundOutAreMarked) {
  const MemberPtr a = Join("a", 0);
  const MemberPtr b = Join("b", 1);
  Steps({a, b}, 30 * kMs);
  const turn::Time found = now_;
  client_stats_.NoteUnregistered({.processes = {{77, "GPU-0"}}, .found_out = {"GPU-0"}, .gangs = {}}, found);
  client_stats_.NoteMemory(*a, 7000, now_);
  Tell(EventKind::kLeave, a);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->disturbed, found);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->peak_memory->value, 7000u)
      << "whose it is the driver knows";
  EXPECT_FALSE(client_stats_.Profile(JobNamed("a"))->step_alone) << "no one run vouches for it";
  EXPECT_FALSE(client_stats_.Profile(JobNamed("b"))->disturbed) << "on another GPU";
  EXPECT_TRUE(client_stats_.Profile(JobNamed("b"))->step_alone);
}

TEST_F(ClientStatsProfileTest, AJobWhoseRankTakesNoPartIsMarkedOnItsOtherGpusToo) {
  const MemberPtr a = Join("a", 1);
  client_stats_.NoteUnregistered({.processes = {{77, "GPU-0"}}, .found_out = {"GPU-0"}, .gangs = {"a"}},
                                 now_);
  Steps({a}, 30 * kMs);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->disturbed, now_ - 20 * 30 * kMs);
  EXPECT_FALSE(client_stats_.Profile(JobNamed("a"))->step_alone);
}

TEST_F(ClientStatsProfileTest, AProcessThatJoinsIsHeardOf) {
  client_stats_.NoteUnregistered({.processes = {{0, "GPU-0"}}, .found_out = {}, .gangs = {}}, now_);
  const MemberPtr a = Join("a");  // of process 0
  Steps({a}, 30 * kMs);
  EXPECT_EQ(Client(a).alone->each, 30 * kMs);
}

TEST_F(ClientStatsProfileTest, WhatIsNotLearnedThisTimeStaysAsItWas) {
  MemberPtr a = Join("a");
  Steps({a}, 30 * kMs);
  client_stats_.NoteMemory(*a, 7000, now_);
  const turn::Time then = now_;
  Tell(EventKind::kLeave, a);
  now_ += kSecond;
  a = Join("a");
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->step_alone->source, MeasurementSource::kRemembered);
  client_stats_.NoteMemory(*a, 5000, now_);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->peak_memory->value, 5000u) << "it needs less now";
  Tell(EventKind::kLeave, a);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->step_alone,
            (Measurement<turn::Time>{30 * kMs, then, MeasurementSource::kMeasured}));
}

TEST_F(ClientStatsProfileTest, TheSlowestRankCounts) {
  const MemberPtr a0 = Join("a", 0);
  const MemberPtr a1 = Join("a", 1);
  client_stats_.NoteMemory(*a0, 7000, now_);
  client_stats_.NoteMemory(*a1, 5000, now_);
  Tell(EventKind::kLeave, a0);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->peak_memory->value, 7000u);
  Tell(EventKind::kLeave, a1);
  EXPECT_EQ(client_stats_.Profile(JobNamed("a"))->peak_memory->value, 7000u);
}

TEST_F(ClientStatsProfileTest, WhatAnEarlierDaemonKnewIsRemembered) {
  const turn::Time long_ago = -3600 * kSecond;  // before this boot
  JobProfile profile;
  profile.job = JobNamed("a");
  profile.step_alone = {30 * kMs, long_ago, MeasurementSource::kMeasured};
  client_stats_.LoadProfile(profile);
  profile.job = JobNamed("b");
  profile.step_alone->source = MeasurementSource::kEstimated;
  client_stats_.LoadProfile(profile);
  const ClientView client = Client(Join("a"));
  EXPECT_EQ(client.alone->each, 30 * kMs);
  EXPECT_EQ(client.alone->source, StepAlone::Source::kRemembered);
  EXPECT_EQ(client.alone->age, now_ - long_ago);
  EXPECT_FALSE(Client(Join("b")).alone) << "an estimate is made anew";
}

TEST_F(ClientStatsTest, TimeInWhichTurnsAreTaken) {
  const MemberPtr a = Join("a");
  const MemberPtr b = Join("b");
  for (const MemberPtr& member : {a, b}) Tell(EventKind::kMode, member, 0, CROSSOVER_MODE_GATE);
  now_ += 3 * kSecond;
  EXPECT_EQ(Gpus().at(0).gated_for, 3 * kSecond);
  for (const MemberPtr& member : {a, b}) Tell(EventKind::kMode, member, 0, CROSSOVER_MODE_OBSERVE);
  now_ += 5 * kSecond;
  EXPECT_EQ(Gpus().at(0).gated_for, 3 * kSecond);
  Tell(EventKind::kMode, a, 0, CROSSOVER_MODE_GATE);
  now_ += kSecond;
  Tell(EventKind::kLeave, a);
  Tell(EventKind::kLeave, b);
  now_ += kSecond;
  EXPECT_EQ(Gpus().at(0).gated_for, 4 * kSecond) << "until the last has left";
}

TEST_F(ClientStatsTest, ShowsTheTurnstilesCountersAndOffenders) {
  const MemberPtr a = Join("a");
  turn::Stats stats;
  stats.opened = 4;
  client_stats_.OnStats(*a->gpu, stats);
  EXPECT_EQ(Gpus().at(0).stats.opened, 4u);
  Tell(EventKind::kOffend, a);
  EXPECT_TRUE(Client(a).offender);
  Tell(EventKind::kPardon, a);
  EXPECT_FALSE(Client(a).offender);
}

TEST_F(ClientStatsTest, StrangersAreIgnored) {
  auto stranger = std::make_shared<arbiter::Member>();
  stranger->gpu = Gpu(0);
  for (const auto kind : {EventKind::kHold, EventKind::kRelease, EventKind::kLeave, EventKind::kStep}) {
    Tell(kind, stranger);
  }
  client_stats_.OnEvent({.kind = EventKind::kMint, .at = now_, .gpu = Gpu(0), .member = nullptr});
  EXPECT_TRUE(Gpus().empty());
}

// The test covers each reason for which jobs run side by side without turns, in the order in which the
// statistics look for them.
TEST_F(ClientStatsTest, SaysWhyNoTurnsAreTaken) {
  const auto why = [this] { return Gpus().at(0).why_ungated; };
  const auto set = [this](std::uint32_t mode, std::uint32_t phase) {
    for (auto& [id, words] : words_) words = Words(mode, phase);
  };
  const MemberPtr a = Join("a");
  EXPECT_EQ(why(), "") << "turns are taken";
  set(CROSSOVER_MODE_OFF, CROSSOVER_PHASE_LEARNING);
  EXPECT_EQ(why(), "the daemon's mode is off");
  set(CROSSOVER_MODE_OBSERVE, CROSSOVER_PHASE_LEARNING);
  EXPECT_EQ(why(), "alone on its GPU");
  const MemberPtr b = Join("b");
  set(CROSSOVER_MODE_OBSERVE, CROSSOVER_PHASE_LEARNING);
  EXPECT_EQ(why(), "gang a has not shown a period yet");
  Steps({a}, 10 * kMs, 1);
  EXPECT_EQ(why(), "gang a learns its period anew");
  words_[a->id].phase = CROSSOVER_PHASE_LOCKED;
  EXPECT_EQ(why(), "gang b has not shown a period yet");
  words_[b->id].phase = CROSSOVER_PHASE_LOCKED;
  EXPECT_EQ(why(), "the daemon's mode is observe");
  turn::Stats stats;
  stats.way = turn::Way::kSideBySide;
  stats.rate_side_by_side = 1.307;
  stats.rate_by_turns = 1.2;
  client_stats_.OnStats(*a->gpu, stats);
  EXPECT_EQ(why(),
            "turns do not gain enough: side by side 1.31 times one after the other, by turns 1.20 times");
  Tell(EventKind::kOffend, b);
  EXPECT_EQ(why(), "gang b held its turn too long, too often");
  auto watched = std::make_shared<arbiter::Member>();
  watched->id = 99;
  watched->gpu = Gpu(0);
  watched->gang = "c";
  watched->observed = true;
  Tell(EventKind::kJoin, watched);
  EXPECT_EQ(why(), "gang c is only watched, because of its mode");
}

TEST_F(ClientStatsTest, SaysWhoseCapIsRefused) {
  const MemberPtr a = Join("a");
  EXPECT_FALSE(Client(a).cap_refused);
  Tell(EventKind::kRefuseCap, a);
  EXPECT_TRUE(Client(a).cap_refused);
  Tell(EventKind::kGrantCap, a);
  EXPECT_FALSE(Client(a).cap_refused);
}

TEST_F(ClientStatsTest, RanksSayWhatTheyHaveLearned) {
  const MemberPtr a = Join("a", 0);
  Steps({a}, 30 * kMs);
  const MemberPtr b = Join("b", 1);
  const std::vector<RankView> ranks = client_stats_.Ranks();
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].member, a);
  EXPECT_EQ(ranks[0].joined, 1000 * kSecond);
  EXPECT_EQ(ranks[0].iterations, 20u);
  EXPECT_EQ(ranks[0].learned.step_alone->value, 30 * kMs);
  EXPECT_FALSE(ranks[0].wait.has_value()) << "it has waited for no turn";
  EXPECT_FALSE(ranks[0].disturbed);
  EXPECT_EQ(ranks[1].member, b);
  EXPECT_EQ(ranks[1].iterations, 0u);
}

// A trial beside a process that takes no part measures that process, too.
TEST_F(ClientStatsTest, WhatIsMeasuredBesideAProcessThatIsNotHeardOfIsNotKept) {
  const MemberPtr a = Join("a");
  client_stats_.NoteUnregistered({.processes = {{77, "GPU-0"}}, .found_out = {}, .gangs = {}}, now_);
  Tell(EventKind::kMeasure, a, 31 * kMs);
  EXPECT_FALSE(Client(a).alone);
  client_stats_.NoteUnregistered({}, now_);
  Tell(EventKind::kMeasure, a, 31 * kMs);
  EXPECT_EQ(Client(a).alone->each, 31 * kMs);
}

TEST_F(ClientStatsTest, ClientsAreSaidSinceWhenAndByTheNamesOfTheirGangs) {
  const MemberPtr b = Join("b");
  now_ += 3 * kSecond;
  const MemberPtr a = Join("a");
  const GpuView gpu = Gpus().at(0);
  EXPECT_EQ(gpu.uuid, "GPU-0");
  ASSERT_EQ(gpu.clients.size(), 2u);
  EXPECT_EQ(gpu.clients[0].member, a);
  EXPECT_EQ(gpu.clients[0].connected_for, 0);
  EXPECT_EQ(gpu.clients[1].connected_for, 3 * kSecond);
}

TEST_F(ClientStatsTest, WhatAClientSaysOfReductionsCountsBeforeWhatIsNotedOfIt) {
  using base::PlainReason;
  const MemberPtr a = Join("a"), b = Join("b");
  EXPECT_FALSE(client_stats_.Ranks().at(0).told_of_reductions);
  const auto report = [this](const MemberPtr& member, std::uint32_t plain) {
    crossover_reductions told{};
    told.plain[0] = plain;
    client_stats_.OnEvent({.kind = EventKind::kReductions,
                           .at = now_,
                           .gpu = member->gpu,
                           .member = member,
                           .reductions = std::make_shared<const crossover_reductions>(told)});
  };
  report(b, 3);
  for (const MemberPtr& member : {a, b})
    client_stats_.NotePlain(*member, base::ShrinkLevel::kQ8, PlainReason::kNotSeen);
  const auto views = client_stats_.Reductions();
  ASSERT_EQ(views.size(), 2u);
  constexpr auto kNotSeen = static_cast<std::uint32_t>(PlainReason::kNotSeen);
  EXPECT_EQ(views[0].member, a);
  EXPECT_EQ(views[0].reductions->asked, static_cast<std::uint32_t>(base::ShrinkLevel::kQ8));
  EXPECT_EQ(views[0].reductions->plain[kNotSeen], 1u);
  EXPECT_EQ(views[1].reductions->plain[0], 3u);
  EXPECT_EQ(views[1].reductions->plain[kNotSeen], 0u);
  EXPECT_TRUE(client_stats_.Ranks().at(0).told_of_reductions);
  report(a, 5);
  EXPECT_EQ(client_stats_.Reductions().at(0).reductions->plain[0], 5u) << "it says so itself by now";
  Tell(EventKind::kLeave, a);
  client_stats_.NotePlain(*a, base::ShrinkLevel::kQ8, PlainReason::kNotSeen);
  EXPECT_EQ(client_stats_.Reductions().size(), 1u);
}

}  // namespace
}  // namespace crossover::deviceplugin
