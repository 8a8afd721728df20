// Tests turns that end at waits: see sidecar/session/session_waits.cc.
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "sidecar/session/hook_flags.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"
#include "tests/unit/sidecar/fake_driver.h"

namespace crossover::session {
namespace {

using test::FakeDriver;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr phase::StreamKey kNccl = 0x200;
constexpr phase::StreamKey kCopies = 0x300;
constexpr phase::EventKey kEvent = 0x1000;
constexpr phase::EventKey kOther = 0x2000;
constexpr char kComm = 0;
constexpr int kLayers = 6;  // more turns in an iteration than the page has room for

// Attaches a session to a page of its own, and reports the steps of a job with sharded parameters: each layer
// waits for its weights.
class SessionWaitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeDriver::Clear();
    hook_flags = 0;
    watching = false;
    turns_end_at_waits = false;
    session_.WatchKernels(false);
    session_.SetUp(&driver_, FakeDriver::context(), transport_, overlap_);
    if (allowed_) session_.AllowTurnsAtWaits();
    slot().mode = CROSSOVER_MODE_OBSERVE;
    session_.OnCommunicator(&kComm, 4);
    ASSERT_TRUE(session_.Attach(&page_, 0));
    FakeDriver::calls.clear();
  }

  phase::StreamKey main_ = 0x100;

  crossover_slot& slot() { return page_.slot[0]; }

  // These do what the wrappers do.
  void Launch() { Launch(main_); }
  void Launch(phase::StreamKey stream) {
    if (hook_flags != 0) session_.BeforeLaunch(stream);
  }
  void Collective(std::uint64_t count, phase::StreamKey stream = kNccl) {
    session_.BeforeCollective(&kComm, {0, 0, count, 7, 0, 0}, stream);
    FakeDriver::calls.push_back("nccl " + std::to_string(count));
  }
  void Wait(phase::StreamKey stream, phase::EventKey event) {
    if (turns_end_at_waits) session_.BeforeStreamWait(stream, event);
    FakeDriver::calls.push_back("user waits");
    session_.OnStreamWait(stream, event);
  }
  void HostWait() {
    if (turns_end_at_waits) session_.BeforeHostWait();
    session_.OnHostWaitStream(main_);
  }

  void Layer(std::uint64_t number) {
    Collective(number);
    session_.OnRecord(kEvent, kNccl);
    if (copies_) Launch(kCopies);
    Wait(main_, kEvent);
    Launch();
    Launch();
  }
  void Iterations(int count) {
    for (int i = 0; i < count * kLayers; ++i) Layer(static_cast<std::uint64_t>(10 + i % kLayers));
  }

  // Lets the session learn, asks it to take turns, and leaves it in a turn.
  void TakeTurns() {
    Iterations(20);
    slot().mode = CROSSOVER_MODE_GATE;
    Iterations(1);
    FakeDriver::calls.clear();
  }

  bool copies_ = true;
  bool allowed_ = true;
  bool overlap_ = true;
  std::uint32_t transport_ = CROSSOVER_TRANSPORT_GPU_GATES;
  const gates::Driver driver_ = FakeDriver::Table();
  crossover_page page_{
      CROSSOVER_TURNSTILE_MAGIC, 1, sizeof(crossover_page), CROSSOVER_MAX_CLIENTS, 0, 0, 0, {}, {}};
  Session session_;
};

// Another stream copies before the wait, in each layer of this job.
TEST_F(SessionWaitsTest, ATurnEndsInFrontOfEachWaitAndTheNextLaunchBeginsAnother) {
  TakeTurns();
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  Layer(10);
  ASSERT_EQ(FakeDriver::calls.size(), 4u);
  EXPECT_EQ(FakeDriver::calls[0], "nccl 10") << "the call waits for nothing of ours";
  EXPECT_THAT(FakeDriver::calls[1], StartsWith("memop 100 gate="));
  EXPECT_EQ(FakeDriver::calls[2], "user waits");
  EXPECT_THAT(FakeDriver::calls[3], StartsWith("memop 100 ready="));
  EXPECT_EQ(hook_flags, std::uint32_t{kHookCount}) << "launches take no lock in a turn";
}

TEST_F(SessionWaitsTest, AnIterationHasOneNumberHoweverManyTurnsItHas) {
  TakeTurns();
  const std::uint32_t iteration = slot().iteration;
  const turn::TurnNumber turn = session_.Asked();
  Iterations(3);
  EXPECT_EQ(slot().iteration, iteration + 3);
  EXPECT_EQ(turn::TurnOf(session_.Asked()) - turn::TurnOf(turn), std::uint32_t{3 * kLayers});
  EXPECT_EQ(slot().turns, std::uint32_t{kLayers}) << "the arbiter makes one position of so many";
}

TEST_F(SessionWaitsTest, OtherStreamsNeitherTakeATurnNorWaitForOne) {
  TakeTurns();
  Collective(10);
  session_.OnRecord(kEvent, kNccl);
  Wait(main_, kEvent);
  FakeDriver::calls.clear();
  Launch(kCopies);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 ready=")))
      << "no event ties another stream to the turn";
}

TEST_F(SessionWaitsTest, AWaitOfAnotherStreamEndsNoTurn) {
  TakeTurns();
  Collective(10);
  session_.OnRecord(kEvent, kNccl);
  Wait(kCopies, kEvent);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 10", "user waits"));
}

// The collective is waited for by way of the stream that copies what it has brought.
TEST_F(SessionWaitsTest, AWaitForAnotherStreamThatWaitedEndsTheTurn) {
  TakeTurns();
  Collective(10);
  session_.OnRecord(kEvent, kNccl);
  Wait(kCopies, kEvent);
  session_.OnRecord(kOther, kCopies);
  FakeDriver::calls.clear();
  Wait(main_, kOther);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "user waits"));
}

TEST_F(SessionWaitsTest, AWaitForNoCollectiveEndsNoTurn) {
  TakeTurns();
  session_.OnRecord(kOther, kCopies);
  Wait(main_, kOther);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("user waits"));
}

// The wait for the first collective may come after a second one was called: weights that are prefetched.
TEST_F(SessionWaitsTest, AWaitForAnOlderCollectiveEndsTheTurn) {
  TakeTurns();
  Collective(10);
  session_.OnRecord(kEvent, kNccl);
  Collective(11);
  session_.OnRecord(kOther, kNccl);
  Launch();
  FakeDriver::calls.clear();
  Wait(main_, kEvent);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "user waits"));
  Launch();
  FakeDriver::calls.clear();
  Wait(main_, kOther);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "user waits"));
}

TEST_F(SessionWaitsTest, AHostThatWaitsEndsTheTurn) {
  TakeTurns();
  HostWait();
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate=")));
  HostWait();
  EXPECT_EQ(FakeDriver::calls.size(), 1u) << "no turn is held any more";
  Launch();
  EXPECT_THAT(FakeDriver::calls.back(), StartsWith("memop 100 ready="));
}

// The default stream of one thread can be named by that thread alone.
TEST_F(SessionWaitsTest, AnotherThreadThatWaitsEndsNoTurnOfAPerThreadStream) {
  main_ = PerThreadStream();
  TakeTurns();
  FakeDriver::calls.clear();
  std::thread([this] { HostWait(); }).join();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  EXPECT_EQ(slot().watch_reason, 0u);
  HostWait();
  EXPECT_EQ(FakeDriver::calls.size(), 1u);
}

TEST_F(SessionWaitsTest, ACollectiveOnTheMainStreamIsNotInATurn) {
  TakeTurns();
  Collective(10, main_);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "nccl 10"));
}

TEST_F(SessionWaitsTest, ACallThatDoesNotFitEndsTurnsUntilAPeriodIsKnownAgain) {
  TakeTurns();
  Collective(999);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "nccl 999"));
  EXPECT_FALSE(turns_end_at_waits);
  FakeDriver::calls.clear();
  Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Iterations(40);
  EXPECT_TRUE(turns_end_at_waits);
}

TEST_F(SessionWaitsTest, TheEndOfTheMainStreamEndsTurns) {
  TakeTurns();
  session_.OnStreamDestroy(main_);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate=")));
  EXPECT_FALSE(turns_end_at_waits);
  FakeDriver::calls.clear();
  // The other stream that computes is the main one from then on. It takes turns once it has joined a
  // collective.
  for (std::uint64_t layer = 10; layer < 12; ++layer) {
    EXPECT_FALSE(turns_end_at_waits);
    Collective(layer);
    session_.OnRecord(kEvent, kNccl);
    Wait(kCopies, kEvent);
  }
  Collective(12);
  EXPECT_TRUE(turns_end_at_waits);
}

// A turn of another stream would tie all compute streams to it.
TEST_F(SessionWaitsTest, NoOtherStreamTakesTheTurnThatTheMainOneWasToTake) {
  TakeTurns();
  HostWait();
  session_.OnStreamDestroy(main_);
  FakeDriver::calls.clear();
  Launch(kCopies);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(SessionWaitsTest, ALostArbiterEndsTurns) {
  TakeTurns();
  session_.StopTaking();
  Layer(10);
  Layer(11);
  EXPECT_FALSE(turns_end_at_waits);
  session_.Detach();
  FakeDriver::calls.clear();
  Layer(12);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 12", "user waits"));
}

class WaitsAtOnce : public SessionWaitsTest {
 protected:
  WaitsAtOnce() { copies_ = false; }
};
TEST_F(WaitsAtOnce, TheTurnEndsInFrontOfTheCall) {
  TakeTurns();
  Layer(10);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "nccl 10", "user waits",
                                             StartsWith("memop 100 ready=")));
}
TEST_F(WaitsAtOnce, ALaunchThatComesInBetweenAllTheSameHasATurnOfItsOwn) {
  TakeTurns();
  Collective(10);
  session_.OnRecord(kEvent, kNccl);
  Launch();
  Wait(main_, kEvent);
  EXPECT_THAT(FakeDriver::calls,
              ElementsAre(StartsWith("memop 100 gate="), "nccl 10", StartsWith("memop 100 ready="),
                          StartsWith("memop 100 gate="), "user waits"));
}

class NotAllowed : public SessionWaitsTest {
 protected:
  NotAllowed() { allowed_ = false; }
};
TEST_F(NotAllowed, TheJobIsWatchedAsBefore) {
  TakeTurns();
  Iterations(2);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  for (const std::string& call : FakeDriver::calls) EXPECT_FALSE(call.starts_with("memop")) << call;
}

class InTimeSlices : public SessionWaitsTest {
 protected:
  InTimeSlices() { overlap_ = false; }
};
TEST_F(InTimeSlices, NoTurnEndsAtAWait) {
  TakeTurns();
  Iterations(2);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING))
      << "else the arbiter would make other jobs take turns beside one that takes none";
  for (const std::string& call : FakeDriver::calls) EXPECT_FALSE(call.starts_with("memop")) << call;
}

class ByHostGates : public SessionWaitsTest {
 protected:
  ByHostGates() { transport_ = CROSSOVER_TRANSPORT_HOST_GATES; }
};
TEST_F(ByHostGates, NoTurnEndsAtAWait) {
  TakeTurns();
  Iterations(2);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_FALSE(turns_end_at_waits);
}

// The guard asks for turns and for none, again and again. Between turns another stream joins what the main
// one will wait for: that must not count as joined by it.
class BetweenTurns : public SessionWaitsTest {
 protected:
  void PrefetchedLayer(std::uint64_t number) {
    Collective(number);
    session_.OnRecord(kEvent, kNccl);
    Wait(kCopies, kEvent);
    session_.OnRecord(kOther, kCopies);
  }
};
TEST_F(BetweenTurns, WhatAnotherStreamJoinsIsNotJoinedByTheMainOne) {
  TakeTurns();
  slot().mode = CROSSOVER_MODE_OBSERVE;
  Layer(10);
  Layer(11);
  EXPECT_FALSE(turns_end_at_waits);
  PrefetchedLayer(12);
  slot().mode = CROSSOVER_MODE_GATE;
  Collective(13);
  session_.OnRecord(0x3000, kNccl);
  ASSERT_TRUE(turns_end_at_waits);
  Launch();
  FakeDriver::calls.clear();
  Wait(main_, kOther);
  EXPECT_THAT(FakeDriver::calls, ElementsAre(StartsWith("memop 100 gate="), "user waits"))
      << "it waits for another rank, which may wait for this turn";
}

// A job whose iteration has few turns takes them as before: its turns end in front of a collective.
TEST_F(SessionWaitsTest, AJobWithFewTurnsDoesNotEndThemAtWaits) {
  for (int i = 0; i < 60; ++i) {
    Launch();
    Collective(10);
    session_.OnRecord(kEvent, kNccl);
    Wait(main_, kEvent);
  }
  slot().mode = CROSSOVER_MODE_GATE;
  Launch();
  Collective(10);
  EXPECT_FALSE(turns_end_at_waits);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
}

}  // namespace
}  // namespace crossover::session
