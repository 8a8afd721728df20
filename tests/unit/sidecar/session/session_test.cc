#include "sidecar/session/session.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sidecar/memory/accounting.h"
#include "sidecar/session/hook_flags.h"
#include "sidecar/session/streams.h"
#include "tests/unit/sidecar/fake_driver.h"

namespace crossover::session {
namespace {

using test::FakeDriver;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr phase::StreamKey kCompute = 0x100;
constexpr phase::StreamKey kSide = 0x200;
constexpr phase::StreamKey kSecond = 0x300;
constexpr phase::EventKey kEvent = 0x1000;
constexpr char kComm = 0;
constexpr char kSingle = 0;

// Attaches a session to a page of its own, and reports the steps of a training loop as the hooks do.
class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeDriver::Clear();
    hook_flags = 0;
    watching = false;
    session_.WatchKernels(false);
    session_.SetUp(&driver_, FakeDriver::context(), transport_, overlap_);
    slot().mode = CROSSOVER_MODE_OBSERVE;
    session_.OnCommunicator(&kComm, 4);
    session_.OnCommunicator(&kSingle, 1);
    ASSERT_TRUE(session_.Attach(&page_, 0));
    FakeDriver::calls.clear();
  }

  crossover_slot& slot() { return page_.slot[0]; }

  // Does what the launch wrapper does.
  void Launch(phase::StreamKey stream = kCompute) {
    if (hook_flags != 0) session_.BeforeLaunch(stream);
  }

  void Collective(std::uint64_t count, phase::StreamKey stream = kSide, const void* comm = &kComm) {
    session_.BeforeCollective(comm, {0, 0, count, 7, 0, 0}, stream);
    FakeDriver::calls.push_back("nccl " + std::to_string(count));
  }

  void Join(phase::StreamKey from = kSide, phase::StreamKey to = kCompute) {
    session_.OnRecord(kEvent, from);
    session_.OnStreamWait(to, kEvent);
  }

  // Runs an iteration with two buckets, the first of which overlaps the backward pass.
  void Iteration() {
    Launch();
    Launch();
    Collective(10);
    Launch();
    Collective(20);
    Join();
    Launch();
  }

  void Iterations(int count) {
    for (int i = 0; i < count; ++i) Iteration();
  }

  // Lets the session learn, asks it to take turns, and leaves it in its first turn.
  void TakeTurns() {
    Iterations(4);
    ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
    slot().mode = CROSSOVER_MODE_GATE;
    Iteration();
    ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
    FakeDriver::calls.clear();
  }

  std::uint32_t WatchReason() { return slot().watch_reason; }
  // Returns why the job is watched only, as another arbiter reads it after the first one has gone.
  std::uint32_t ToldToAnother() {
    crossover_page fresh{};
    fresh.slot[0].mode = CROSSOVER_MODE_OBSERVE;
    EXPECT_TRUE(session_.Attach(&fresh, 0));
    const std::uint32_t reason = fresh.slot[0].watch_reason;
    session_.StopTaking();
    session_.Detach();
    return reason;
  }

  bool overlap_ = true;
  std::uint32_t transport_ = CROSSOVER_TRANSPORT_GPU_GATES;
  const gates::Driver driver_ = FakeDriver::Table();
  crossover_page page_{
      CROSSOVER_TURNSTILE_MAGIC, 1, sizeof(crossover_page), CROSSOVER_MAX_CLIENTS, 0, 0, 0, {}, {}};
  Session session_;
};

TEST_F(SessionTest, ObservesWithoutQueueingAnything) {
  Iterations(5);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
  EXPECT_EQ(hook_flags, 0u) << "launches are fast again";
  for (const std::string& call : FakeDriver::calls) EXPECT_EQ(call.substr(0, 4), "nccl");
}

TEST_F(SessionTest, CountsItsIterationsInThePage) {
  Iterations(5);
  const std::uint32_t before = slot().periods;
  Iterations(7);
  EXPECT_EQ(slot().periods - before, 7u);
  slot().mode = CROSSOVER_MODE_GATE;
  Iterations(3);
  EXPECT_EQ(slot().periods - before, 10u);
}

TEST_F(SessionTest, ReleasesBeforeTheLastBucketAndAcquiresAtTheFirstLaunchAfterItsJoin) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 10", "memop 100 gate=2 rel=1", "nccl 20"));
  FakeDriver::calls.clear();
  Launch();  // between call and join: stays outside the turn
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Join();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
  EXPECT_EQ(hook_flags, std::uint32_t{kHookCount}) << "launches take no lock again";
}

// Streams of a green context wait so, and no call names them.
TEST_F(SessionTest, AWaitOfAWholeContextJoinsToo) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  FakeDriver::calls.clear();
  session_.OnRecordAll(kEvent);
  session_.OnAllWait(kEvent);
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

// The driver ends before our threads do, and the next client does not wait for the death of the process.
TEST_F(SessionTest, AProcessThatEndsGivesItsTurnBackAndLeavesTheDriverAlone) {
  TakeTurns();
  slot().hold = session_.Asked();
  page_.slot[1].mode = CROSSOVER_MODE_GATE;
  page_.slot[1].ready = turn::FirstStretch(1);
  session_.OnExit();
  EXPECT_EQ(slot().rel, slot().hold);
  const int queries = FakeDriver::queries;
  for (int i = 0; i < 50; ++i) session_.OnTick();
  EXPECT_EQ(FakeDriver::queries, queries);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Iterations(4);
  for (const std::string& call : FakeDriver::calls) EXPECT_EQ(call.substr(0, 4), "nccl");
}

TEST_F(SessionTest, AProcessThatEndsBeforeItsTurnCameGivesNothingBack) {
  TakeTurns();
  session_.OnExit();
  EXPECT_EQ(slot().rel, 0u);
  EXPECT_EQ(page_.slot[1].gate, 0u);
}

// A stream that waits at its gate may be let in before the process is gone.
TEST_F(SessionTest, ATurnThatComesWhileTheProcessEndsIsGivenBackByTheHelper) {
  TakeTurns();
  session_.OnExit();
  session_.OnTick();
  EXPECT_EQ(slot().rel, 0u);
  slot().hold = session_.Asked();
  EXPECT_LE(session_.OnTick(), 1000) << "it looks again soon";
  EXPECT_EQ(slot().rel, slot().hold);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(SessionTest, NoYieldPointIsMadeWhileTheProcessEnds) {
  slot().stretch_launches[0] = 1;
  TakeTurns();
  session_.OnExit();
  for (int i = 0; i < 8; ++i) Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

// Set-up may be anywhere in the driver when the process begins to end.
TEST_F(SessionTest, AProcessThatBeginsToEndDuringSetUpTakesNoTurns) {
  session_.StopTaking();
  session_.Detach();
  crossover_page fresh{};
  fresh.slot[0].mode = CROSSOVER_MODE_GATE;
  FakeDriver::while_queueing = [this] { session_.OnExit(); };
  session_.Attach(&fresh, 0);
  FakeDriver::while_queueing = nullptr;
  FakeDriver::calls.clear();
  Iterations(8);
  for (const std::string& call : FakeDriver::calls) EXPECT_EQ(call.substr(0, 4), "nccl");
}

TEST_F(SessionTest, AProcessThatEndsJoinsNoTurnstileAnyMore) {
  session_.StopTaking();
  session_.Detach();
  session_.OnExit();
  crossover_page fresh{};
  EXPECT_FALSE(session_.Attach(&fresh, 0));
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

// A thread that is in the driver with our lock may stay there for as long as the process lives.
TEST_F(SessionTest, AProcessEndsThoughAThreadKeepsTheLock) {
  TakeTurns();
  slot().hold = session_.Asked();
  Collective(10);
  std::promise<void> in_driver, ended;
  FakeDriver::while_queueing = [&] {
    in_driver.set_value();
    ended.get_future().wait();
  };
  std::thread releases([&] { Collective(20); });
  in_driver.get_future().wait();
  session_.OnExit();
  ended.set_value();
  releases.join();
  EXPECT_EQ(slot().rel, 0u) << "the release is queued";
}

// A user's thread that ends inside a driver call of ours must not take our lock with it.
class CancelledThreadTest : public SessionTest {
 protected:
  // Runs `call` on a thread that was cancelled before. Returns whether the call came to its end and the
  // thread ended after it.
  bool Runs(std::function<void()> call) {
    call_ = std::move(call);
    to_the_end_ = false;
    FakeDriver::cancellation_points = true;
    pthread_t thread{};
    void* end = nullptr;
    const auto run = [](void* self) -> void* {
      auto* const test = static_cast<CancelledThreadTest*>(self);
      pthread_cancel(pthread_self());
      test->call_();
      test->to_the_end_ = true;
      pthread_testcancel();
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&thread, nullptr, run, this), 0);
    EXPECT_EQ(pthread_join(thread, &end), 0);
    FakeDriver::cancellation_points = false;
    return to_the_end_ && end == PTHREAD_CANCELED;
  }

  // Returns whether the session's lock is free.
  bool Free() {
    crossover_profile profile{};
    return session_.FillProfile(&profile);
  }

  std::function<void()> call_;
  bool to_the_end_ = false;
};

TEST_F(CancelledThreadTest, EndsBehindALaunchThatBeginsATurn) {
  TakeTurns();
  Collective(10);
  Collective(20);
  Join();
  FakeDriver::calls.clear();
  EXPECT_TRUE(Runs([this] { Launch(); }));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
  ASSERT_TRUE(Free());
}

TEST_F(CancelledThreadTest, EndsBehindAGateThatBlocked) {
  TakeTurns();
  Collective(10);
  FakeDriver::memops_supported = false;
  ::testing::internal::CaptureStderr();
  Collective(20);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::EndsWith("host gates instead\n"));
  Join();
  slot().gate = turn::OpenAny(0);
  EXPECT_TRUE(Runs([this] { Launch(); }));
  EXPECT_EQ(slot().hold, turn::FirstStretch(2));
  ASSERT_TRUE(Free());
  Collective(10);
  Collective(20);
  EXPECT_EQ(slot().rel, slot().hold) << "no stream is thought to wait there still";
}

TEST_F(CancelledThreadTest, EndsBehindACollectiveThatEndsATurn) {
  TakeTurns();
  Collective(10);
  EXPECT_TRUE(Runs([this] { Collective(20); }));
  ASSERT_TRUE(Free());
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 10", "memop 100 gate=2 rel=1", "nccl 20"));
}

// This GPU runs one process at a time: a collective beside another job's compute would only slow both down.
class TimeSlicedSessionTest : public SessionTest {
 protected:
  TimeSlicedSessionTest() { overlap_ = false; }
};

TEST_F(TimeSlicedSessionTest, KeepsTheTurnUntilTheLastBucketIsJoined) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 10", "nccl 20"));
  FakeDriver::calls.clear();
  Join();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Launch();
  EXPECT_THAT(FakeDriver::calls,
              ElementsAre("memop 100 gate=2 rel=1", "memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
  EXPECT_EQ(hook_flags, std::uint32_t{kHookCount});
}

// Each release of slot 0 opens the gate of slot 1 or its own.
class SlicedSessionTest : public TimeSlicedSessionTest {
 protected:
  static constexpr std::uint32_t kBits = 2;
  // Returns for each of the next iterations whether its turn goes over to slot 1.
  std::vector<bool> HandsOver(int iterations) {
    std::vector<bool> over;
    for (int i = 0; i < iterations; ++i) {
      FakeDriver::calls.clear();
      Iteration();
      for (const std::string& call : FakeDriver::calls) {
        if (call.find(" rel=") != std::string::npos) over.push_back(call.find("gate1=") != std::string::npos);
      }
    }
    return over;
  }
  void TakeTurnsInSlices() {
    TakeTurns();
    slot().successor[0] = 1;
    slot().slice_bits = kBits;
    while (HandsOver(1).at(0)) {  // single turns come first
    }
  }
};

TEST_F(SlicedSessionTest, KeepsTheTurnUntilItsIterationPassesAMultiple) {
  TakeTurnsInSlices();
  ASSERT_EQ(slot().iteration, 13u) << "a multiple, and five turns after the first";
  EXPECT_EQ(HandsOver(8), (std::vector<bool>{false, false, true, false, false, false, true, false}));
  slot().slice_bits = 0;
  EXPECT_EQ(HandsOver(3), (std::vector<bool>{true, true, true}));
}

TEST_F(SlicedSessionTest, HandsOverWhereNoTurnOfItsOwnFollows) {
  TakeTurnsInSlices();
  EXPECT_EQ(HandsOver(1), std::vector<bool>{false});
  slot().mode = CROSSOVER_MODE_OBSERVE;
  EXPECT_EQ(HandsOver(1), std::vector<bool>{true});
}

TEST_F(SlicedSessionTest, HandsOverWhereItsJobEnds) {
  TakeTurnsInSlices();
  FakeDriver::calls.clear();
  session_.OnCommunicatorEnd(&kComm);
  ASSERT_EQ(FakeDriver::calls.size(), 1u);
  EXPECT_THAT(FakeDriver::calls[0], HasSubstr("gate1="));
}

TEST_F(SlicedSessionTest, HandsAnIdleTurnOver) {
  TakeTurnsInSlices();
  Launch();
  slot().hold = session_.Asked();
  page_.slot[1].mode = CROSSOVER_MODE_GATE;
  page_.slot[1].ready = turn::FirstStretch(1);
  for (int i = 0; i < 25; ++i) session_.OnTick();
  EXPECT_EQ(slot().rel, session_.Asked());
  EXPECT_TRUE(turn::AtOrPast(page_.slot[1].gate, turn::FirstStretch(1)));
}

// With MPS turns end before their collectives, and jobs gain by what runs meanwhile.
TEST_F(SessionTest, TurnsThatDoNotLastComeOneByOne) {
  TakeTurns();
  slot().successor[0] = 1;
  slot().slice_bits = 2;
  for (int i = 0; i < 4; ++i) {
    FakeDriver::calls.clear();
    Iteration();
    ASSERT_FALSE(FakeDriver::calls.empty());
    EXPECT_THAT(FakeDriver::calls, ::testing::Contains(HasSubstr("gate1="))) << i;
  }
}

TEST_F(TimeSlicedSessionTest, KeepsTheTurnHoweverLongItsCollectiveTakes) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  slot().hold = session_.Asked();
  page_.slot[1].mode = CROSSOVER_MODE_GATE;
  page_.slot[1].ready = turn::FirstStretch(1);
  for (int i = 0; i < 50; ++i) session_.OnTick();
  EXPECT_EQ(slot().rel, 0u);
}

TEST_F(TimeSlicedSessionTest, GivesAnIdleTurnBackLate) {
  TakeTurns();
  Launch();
  slot().hold = session_.Asked();
  page_.slot[1].mode = CROSSOVER_MODE_GATE;
  page_.slot[1].ready = turn::FirstStretch(1);
  for (int i = 0; i < 15; ++i) session_.OnTick();
  EXPECT_EQ(slot().rel, 0u) << "the other ranks may be in the collective by now";
  for (int i = 0; i < 10; ++i) session_.OnTick();
  EXPECT_EQ(slot().rel, turn::FirstStretch(1));
  FakeDriver::calls.clear();
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"))
      << "and is taken again";
}

// The arbiter asks for the turn to be broken after two launches.
TEST_F(SessionTest, MakesYieldPointsBetweenLaunches) {
  slot().stretch_launches[0] = 2;
  Launch(kSecond);
  TakeTurns();
  Launch();
  Collective(10);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 10")) << "two launches make the first stretch";
  FakeDriver::calls.clear();
  Launch();
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("record 300", "wait 100",
                                             "memop 100 ready=1.1 rel=1 | gate>=1.1 hold=1.1 gate=1.end",
                                             "record 100", "wait 300"));
  FakeDriver::calls.clear();
  Collective(20);
  EXPECT_THAT(FakeDriver::calls,
              ElementsAre("record 300", "wait 100", "memop 100 gate=2 rel=1.1", "nccl 20"));
}

// Yield points are asked for at one turn's place in the iteration, and the other turns have none.
TEST_F(SessionTest, ShortTurnsOfAnIterationNeedNoYieldPoints) {
  const auto iteration = [this] {
    Launch();
    Launch();
    Collective(5);
    Join();
    Launch();
    Launch();
    Collective(20);
    Join();
  };
  for (int i = 0; i < 5; ++i) iteration();
  slot().mode = CROSSOVER_MODE_GATE;
  for (int i = 0; i < 2; ++i) iteration();
  ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  ASSERT_EQ(slot().turns, 2u);
  slot().stretch_launches[0] = 1;
  FakeDriver::calls.clear();
  for (int i = 0; i < 3; ++i) iteration();
  int broken[] = {0, 0};
  for (const std::string& call : FakeDriver::calls) {
    const auto point = call.find(".1 rel=");
    if (point != std::string::npos) ++broken[(call[point - 1] - '0') % 2];
  }
  EXPECT_GE(broken[0], 2);
  EXPECT_EQ(broken[1], 0);
}

// An evaluation has launches without collectives, many more than the turns before it.
TEST_F(SessionTest, ATurnFarLongerThanEverGetsYieldPoints) {
  TakeTurns();
  Iterations(2);
  EXPECT_EQ(slot().turn_launches, 3u);
  FakeDriver::calls.clear();
  for (int i = 0; i < 14; ++i) Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  for (int i = 0; i < 20; ++i) Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=3.1 rel=3 | gate>=3.1 hold=3.1 gate=3.end",
                                             "memop 100 ready=3.2 rel=3.1 | gate>=3.2 hold=3.2 gate=3.end"));
}

TEST_F(SessionTest, NoYieldPointWhileAnythingIsCaptured) {
  slot().stretch_launches[0] = 1;
  TakeTurns();
  FakeDriver::calls.clear();
  session_.OnBeginCapture({kSide});
  Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  session_.OnEndCapture(kSide);
  Launch();
  EXPECT_EQ(FakeDriver::calls.size(), 1u);
}

TEST_F(SessionTest, ADestroyedStreamIsLeftAlone) {
  TakeTurns();
  session_.OnStreamDestroy(kCompute);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1")) << "while it is still there";
  FakeDriver::calls.clear();
  session_.OnCommunicatorEnd(&kComm);
  for (int i = 0; i < 4; ++i) session_.OnTick();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(SessionTest, TiesOtherComputeStreamsToTheTurn) {
  Launch(kSecond);
  TakeTurns();
  Iteration();
  EXPECT_THAT(FakeDriver::calls,
              ElementsAre("nccl 10", "record 300", "wait 100", "memop 100 gate=2 rel=1", "nccl 20",
                          "memop 100 ready=2 | gate>=2 hold=2 gate=2.end", "record 100", "wait 300"));
}

TEST_F(SessionTest, CollectiveOnTheComputeStreamIsJoinedByItself) {
  const auto iteration = [this] {
    Launch();
    Collective(10, kCompute);
    Launch();
  };
  for (int i = 0; i < 5; ++i) iteration();
  slot().mode = CROSSOVER_MODE_GATE;
  iteration();
  FakeDriver::calls.clear();
  iteration();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1", "nccl 10",
                                             "memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

TEST_F(SessionTest, HostWaitBeginsTheNextTurnOnTheStreamThatLaunches) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  FakeDriver::calls.clear();
  session_.OnHostWaitStream(kSide);
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

TEST_F(SessionTest, CommunicatorOfOneRankDoesNotCount) {
  TakeTurns();
  Collective(99, kSide, &kSingle);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 99"));
}

TEST_F(SessionTest, MismatchGivesTheTurnBackAtOnceAndLearnsAgain) {
  TakeTurns();
  Launch();
  Collective(77);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1", "nccl 77"));
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  FakeDriver::calls.clear();
  Join();
  Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(SessionTest, LeavingGateModeReleasesAndStopsAcquiring) {
  TakeTurns();
  slot().mode = CROSSOVER_MODE_OBSERVE;
  Iteration();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1", "nccl 10", "nccl 20"));
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
}

TEST_F(SessionTest, SwitchedOffWatchesNothing) {
  TakeTurns();
  slot().mode = CROSSOVER_MODE_OFF;
  Iteration();
  EXPECT_FALSE(watching);
  EXPECT_EQ(hook_flags, 0u);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1", "nccl 10", "nccl 20"));
  slot().mode = CROSSOVER_MODE_OBSERVE;
  Iterations(4);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
}

TEST_F(SessionTest, LaunchesInsideNcclAreNotCompute) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  Join();
  FakeDriver::calls.clear();
  {
    const InsideNccl inside;
    Launch(kSide);
  }
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Launch();
  EXPECT_EQ(FakeDriver::calls.size(), 1u);
}

TEST_F(SessionTest, NothingIsQueuedOnACapturingStream) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  Join();
  FakeDriver::calls.clear();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSecond);
  Launch(kSecond);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

// The next capture would go uncounted, and the graph would get operations of ours.
TEST_F(SessionTest, AnEndOfACaptureThatWasNotSeenChangesNothing) {
  session_.OnEndCapture(kSecond);
  slot().stretch_launches[0] = 1;
  TakeTurns();
  ASSERT_TRUE(session_.OnBeginCapture({kSide}));
  session_.OnEndCapture(kSecond);
  EXPECT_TRUE(session_.AnyCapture());
  for (int i = 0; i < 8; ++i) Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(SessionTest, ACaptureEndsWithItsStreamAndTheTurnThatItKeptDoesToo) {
  TakeTurns();
  ASSERT_TRUE(session_.OnBeginCapture({kSecond}));
  ASSERT_FALSE(session_.OnBeginCapture({kSecond})) << "the driver refuses this one";
  FakeDriver::capturing = FakeDriver::Stream(kCompute);
  Collective(77);
  FakeDriver::calls.clear();
  EXPECT_TRUE(session_.OnStreamDestroy(kSecond));
  EXPECT_TRUE(session_.AnyCapture());
  EXPECT_THAT(FakeDriver::calls, IsEmpty()) << "the driver captures still";
  FakeDriver::capturing = nullptr;
  session_.OnCapturedStreamDestroyed();
  EXPECT_FALSE(session_.AnyCapture());
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1"));
  EXPECT_FALSE(session_.OnStreamDestroy(kSecond));
}

// Nothing tells that the default stream of a thread has ended.
TEST_F(SessionTest, ACaptureOfAThreadThatIsGoneIsNotWaitedFor) {
  session_.StopTaking();
  session_.Detach();
  std::thread([this] { ASSERT_TRUE(session_.OnBeginCapture({PerThreadStream()})); }).join();
  EXPECT_TRUE(session_.AnyCapture());
  crossover_page fresh{};
  EXPECT_TRUE(session_.Attach(&fresh, 0));
  EXPECT_FALSE(session_.AnyCapture());
}

// Yield points and idle turns would be gone for the rest of the process.
TEST_F(SessionTest, ACaptureOfAThreadThatIsGoneEndsBesideTurns) {
  TakeTurns();
  std::thread([this] { ASSERT_TRUE(session_.OnBeginCapture({PerThreadStream()})); }).join();
  EXPECT_TRUE(session_.AnyCapture());
  while (session_.AnyCapture()) Iterations(1);
  EXPECT_EQ(WatchReason(), 0u);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
}

// A burst of captures is no reason to take no turn for the rest of the process, on one rank of the job.
TEST_F(SessionTest, HoweverManyCapturesEndTurnsGoOn) {
  constexpr phase::StreamKey kMany = 1000;
  TakeTurns();
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) {
    ASSERT_TRUE(session_.OnBeginCapture({stream * 0x1000}));
  }
  EXPECT_EQ(WatchReason(), 0u);
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) {
    ASSERT_TRUE(session_.AnyCapture());
    if (stream % 2 == 0) {
      session_.OnEndCapture(stream * 0x1000);
    } else {
      ASSERT_TRUE(session_.OnStreamDestroy(stream * 0x1000));
      session_.OnCapturedStreamDestroyed();
    }
  }
  EXPECT_FALSE(session_.AnyCapture());
  Iterations(6);
  EXPECT_EQ(WatchReason(), 0u);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
}

// The process ends with the status 0 if all is as it has to be.
TEST_F(SessionTest, WithoutMemoryForTheRecordOfACaptureNoTurnsAreTaken) {
  TakeTurns();
  const auto begin = [this] {
    rlimit room{};
    if (::getrlimit(RLIMIT_AS, &room) != 0) std::_Exit(2);
    const rlimit none{1, room.rlim_max};
    if (::setrlimit(RLIMIT_AS, &none) != 0) std::_Exit(2);
    session_.OnBeginCapture({0x1000});
    if (::setrlimit(RLIMIT_AS, &room) != 0) std::_Exit(2);
    if (WatchReason() != static_cast<std::uint32_t>(base::WatchReason::kUnknownCaptures)) std::_Exit(3);
    session_.StopTaking();
    session_.Detach();
    FakeDriver::calls.clear();
    crossover_page fresh{};
    if (!session_.Attach(&fresh, 0)) std::_Exit(4);  // it waits for no end that it may never see
    std::_Exit(FakeDriver::calls.empty() ? 0 : 5);   // nothing is set up beside what may be captured
  };
  EXPECT_EXIT(begin(), ::testing::ExitedWithCode(0), "no memory to record which streams are captured");
}

TEST_F(SessionTest, CapturedCollectivesMeanObserveOnly) {
  TakeTurns();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSide);
  Collective(10);
  FakeDriver::capturing = nullptr;
  session_.OnEndCapture(kSide);
  FakeDriver::calls.clear();
  Iterations(6);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
}

// Every iteration is a graph from here on, and the job does not call NCCL any more.
TEST_F(SessionTest, CapturedCollectivesAreToldOfThoughNoOtherIsCalled) {
  TakeTurns();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSide);
  Collective(10);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kCaptured));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 10"));
  FakeDriver::calls.clear();
  FakeDriver::capturing = nullptr;
  session_.OnEndCapture(kSide);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1")) << "the turn that was held";
  EXPECT_EQ(hook_flags, 0u);
}

// Every iteration is a graph from here on. It would look like compute alone to an arbiter that comes later.
TEST_F(SessionTest, WhatIsCapturedWhileNoArbiterIsThereIsRemembered) {
  session_.StopTaking();
  session_.Detach();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSide);
  Collective(10);
  FakeDriver::capturing = nullptr;
  session_.OnEndCapture(kSide);
  EXPECT_EQ(ToldToAnother(), static_cast<std::uint32_t>(base::WatchReason::kCaptured));
}

TEST(SessionBeforeAnyArbiterTest, WhatIsCapturedIsRemembered) {
  FakeDriver::Clear();
  const gates::Driver driver = FakeDriver::Table();
  crossover_page page{};
  Session session;
  session.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSide);
  session.OnCommunicator(&kComm, 2);
  session.BeforeCollective(&kComm, {0, 0, 1, 7, 0, 0}, kSide);  // the driver cannot be asked for anything yet
  session.SetUp(&driver, FakeDriver::context(), CROSSOVER_TRANSPORT_GPU_GATES, true);
  session.BeforeCollective(&kComm, {0, 0, 1, 7, 0, 0}, kSide);
  FakeDriver::capturing = nullptr;
  session.OnEndCapture(kSide);
  ASSERT_TRUE(session.Attach(&page, 0));
  EXPECT_EQ(page.slot[0].watch_reason, static_cast<std::uint32_t>(base::WatchReason::kCaptured));
}

// A burst of streams is no reason to take no turn for the rest of the process.
TEST_F(SessionTest, MoreStreamsThanCanBeTrackedAreWatchedUntilTheyAreGone) {
  constexpr phase::StreamKey kMany = 2 * phase::Tracker::kStreams;
  TakeTurns();
  session_.OnStreamCreate();
  ::testing::internal::CaptureStderr();
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) Launch(stream * 0x1000);
  Iterations(3);
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kStreams));
  EXPECT_NE(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("as long as there are more streams or events than can be tracked"));
  ::testing::internal::CaptureStderr();
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) session_.OnStreamDestroy(stream * 0x1000);
  Iterations(6);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("there is room for all streams and communicators again"));
  EXPECT_EQ(WatchReason(), 0u);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
}

TEST_F(SessionTest, DefaultStreamsOfThreadsThatAreGoneMakeWay) {
  TakeTurns();
  session_.OnStreamCreate();
  for (std::size_t i = 0; i < 2 * phase::Tracker::kStreams; ++i) {
    std::thread([this] { Launch(PerThreadStream()); }).join();
  }
  Iterations(6);
  EXPECT_EQ(WatchReason(), 0u);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
}

TEST_F(SessionTest, MoreCommunicatorsThanCanBeTrackedAreWatchedUntilTheyAreGone) {
  constexpr int kMany = 100;
  static char handles[kMany];
  TakeTurns();
  for (char& handle : handles) session_.OnCommunicator(&handle, 4);
  Iterations(1);
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kCommunicators));
  const std::uint32_t before = slot().iteration;
  for (std::uint64_t count : {10u, 20u}) {
    session_.BeforeCollective(&handles[kMany - 1], {0, 0, count, 7, 0, 0}, kSide, 4);
  }
  for (char& handle : handles) session_.OnCommunicatorEnd(&handle);
  std::uint32_t iterations = 0;
  for (; slot().phase != CROSSOVER_PHASE_TAKING && iterations < 50; ++iterations) Iterations(1);
  EXPECT_EQ(WatchReason(), 0u);
  EXPECT_LT(iterations, 50u);
  EXPECT_EQ(slot().iteration, before + 1 + iterations) << "as on ranks whose tables have room";
}

TEST_F(SessionTest, ACommunicatorThatFindsNoRoomEndsTheTurn) {
  static char handles[64];
  TakeTurns();
  for (char& handle : handles) session_.OnCommunicator(&handle, 4);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1"));
}

// A collective must not make a call of the kernel for each thread.
TEST_F(SessionTest, ThreadsThatAreGoneAreLookedForOnceASecond) {
  TakeTurns();
  session_.OnStreamCreate();
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2 * phase::Tracker::kStreams; ++i) {
    std::promise<void> launched;
    threads.emplace_back([this, &launched, ended] {
      Launch(PerThreadStream());
      launched.set_value();
      ended.wait();
    });
    launched.get_future().wait();
  }
  const auto looked = std::chrono::steady_clock::now();
  Iterations(1);  // looks, and finds all threads alive
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kStreams));
  end.set_value();
  for (std::thread& thread : threads) thread.join();
  Iterations(1);
  const bool looks_again = std::chrono::steady_clock::now() - looked >= std::chrono::seconds(1);
  if (!looks_again) {  // else the threads took so long to end
    EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kStreams)) << "it has just looked";
  }
  while (WatchReason() != 0) Iterations(1);
}

// A launcher with a clean environment loses the variable on the way.
TEST_F(SessionTest, ALimitThatIsNotInTheEnvironmentIsTheArbitersAndIsToldOnce) {
  constexpr std::uint64_t kLimit = 1 << 30;
  ::testing::internal::CaptureStderr();
  session_.LimitMemory(kLimit);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("CROSSOVER_GPU_MEMORY is not in the environment of this process: its pod may have "
                        "1073741824 bytes on each GPU"));
  EXPECT_EQ(memory::TheAccounting().limit(), kLimit);
  ::testing::internal::CaptureStderr();
  session_.LimitMemory(kLimit);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  memory::TheAccounting().SetLimit(0);
}

TEST_F(SessionTest, ItSaysWhatCanBeDoneAboutNonBlockingCommunicators) {
  ::testing::internal::CaptureStderr();
  session_.ObserveOnly(base::WatchReason::kNonBlocking);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("takes no turns: a communicator is non-blocking"));
  EXPECT_THAT(said, HasSubstr("TORCH_NCCL_USE_COMM_NONBLOCKING=0"));
}

TEST_F(SessionTest, WhyItIsWatchedOnlyIsToldToEachArbiter) {
  session_.ObserveOnly(base::WatchReason::kOneSided);
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kOneSided));
  session_.StopTaking();
  session_.Detach();
  EXPECT_EQ(ToldToAnother(), static_cast<std::uint32_t>(base::WatchReason::kOneSided));
}

// The driver is not asked in this case, so it has not refused anything.
TEST_F(SessionTest, ATurnBeginsElsewhereWhereTheStreamThatJoinedIsCaptured) {
  TakeTurns();
  Collective(10);
  Collective(20);
  Join();
  FakeDriver::calls.clear();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kCompute);
  Launch(kSecond);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 300 ready=2 | gate>=2 hold=2 gate=2.end"));
  EXPECT_EQ(WatchReason(), 0u);
}

TEST_F(SessionTest, ATurnWhoseStreamIsCapturedGoesOnMeanwhile) {
  TakeTurns();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kCompute);
  Collective(77);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("nccl 77"));
  EXPECT_EQ(WatchReason(), 0u);
  FakeDriver::calls.clear();
  FakeDriver::capturing = nullptr;
  session_.OnEndCapture(kSide);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1")) << "which should have been before";
  Collective(10);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1", "nccl 10"));
}

// The page's words of a turn that was never given back would keep the next turn shut for ever.
TEST_F(SessionTest, AfterATurnThatCannotEndNoOtherIsAskedFor) {
  TakeTurns();
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kCompute);
  session_.OnStreamDestroy(kCompute);
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kCaptured));
  FakeDriver::capturing = nullptr;
  session_.OnEndCapture(kSide);
  FakeDriver::calls.clear();
  Iterations(6);
  for (const std::string& call : FakeDriver::calls) EXPECT_THAT(call, Not(HasSubstr("ready=")));
}

TEST_F(SessionTest, ATurnThatAnotherThreadCannotEndIsNotTheDriversFault) {
  const phase::StreamKey own = PerThreadStream();
  const auto iteration = [&](auto end) {
    Launch(own);
    end();
    Join(kSide, own);
    Launch(own);
  };
  const auto collectives = [&] { Collective(10), Collective(20); };
  for (int i = 0; i < 5; ++i) iteration(collectives);
  slot().mode = CROSSOVER_MODE_GATE;
  iteration(collectives);
  ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  iteration([&] { std::thread(collectives).join(); });
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kSeveralThreads));
}

TEST_F(SessionTest, StreamsOfAContextThatEndsAreAskedNothingAfterwards) {
  TakeTurns();
  slot().hold = session_.Asked();
  session_.OnContextEnds(reinterpret_cast<CUcontext>(0x78));
  EXPECT_NE(slot().rel, slot().hold) << "another";
  session_.OnContextEnds(FakeDriver::context());
  EXPECT_EQ(slot().rel, slot().hold);
  FakeDriver::queries = 0;
  for (int i = 0; i < 4; ++i) session_.OnTick();
  EXPECT_EQ(FakeDriver::queries, 0);
}

// The session's event, its memory and its registrations are gone.
TEST_F(SessionTest, NothingIsQueuedOnceOurContextHasEnded) {
  TakeTurns();
  ::testing::internal::CaptureStderr();
  session_.OnContextEnds(FakeDriver::context());
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kContextEnded));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "most programs end here";
  FakeDriver::calls.clear();
  FakeDriver::other_context = reinterpret_cast<CUcontext>(0x78);
  ::testing::internal::CaptureStderr();
  session_.OnCommunicator(&kComm, 4);
  Iterations(6);
  EXPECT_THAT(
      ::testing::internal::GetCapturedStderr(),
      ::testing::EndsWith("takes no turns: its GPU context has ended: it was destroyed, or its device "
                          "was reset\n"));
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSide);
  Collective(10);
  for (const std::string& call : FakeDriver::calls) EXPECT_EQ(call.substr(0, 4), "nccl");
  EXPECT_EQ(WatchReason(), static_cast<std::uint32_t>(base::WatchReason::kContextEnded));
}

TEST_F(SessionTest, AContextThatEndsWithoutAnArbiterIsNotUsedForTheNext) {
  TakeTurns();
  session_.StopTaking();
  session_.Detach();
  session_.OnOwnContextEnds();
  crossover_page fresh{};
  fresh.slot[0].mode = CROSSOVER_MODE_GATE;
  FakeDriver::registration_works = false;  // a registration would be logged
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(session_.Attach(&fresh, 0)) << "its neighbours would take it for one without the library";
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(fresh.slot[0].watch_reason, static_cast<std::uint32_t>(base::WatchReason::kContextEnded));
  session_.StopTaking();
  session_.Detach();
}

TEST_F(SessionTest, ABusyTurnOfADeviceThatIsResetIsGivenBackByItsStream) {
  TakeTurns();
  slot().hold = session_.Asked();
  FakeDriver::busy = FakeDriver::Stream(kCompute);
  session_.OnOwnContextEnds();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1"));
}

TEST_F(SessionTest, AResetOfAnotherDeviceIsNothingToUs) {
  TakeTurns();
  slot().hold = session_.Asked();
  session_.OnContextMayEnd();
  EXPECT_NE(slot().rel, slot().hold);
  EXPECT_EQ(WatchReason(), 0u);
}

// With these gates the launching thread waits.
class HostGatesTest : public SessionTest {
 protected:
  HostGatesTest() { transport_ = CROSSOVER_TRANSPORT_HOST_GATES; }
  // Joins the last bucket, and lets the second turn begin.
  void SetUp() override {
    SessionTest::SetUp();
    slot().gate = turn::OpenAny(0);
    TakeTurns();
    Collective(10);
    Collective(20);
    Join();
    slot().gate = turn::OpenAny(0);
    FakeDriver::calls.clear();
  }
};

TEST_F(HostGatesTest, NothingIsWaitedForWhileAnythingIsCaptured) {
  session_.OnBeginCapture({kSide});
  FakeDriver::capturing = FakeDriver::Stream(kSecond);
  Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  EXPECT_EQ(WatchReason(), 0u);
  FakeDriver::capturing = nullptr;
  session_.OnEndCapture(kSide);
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("record 100", "synchronize"));
  EXPECT_EQ(slot().hold, turn::FirstStretch(2));
}

TEST_F(HostGatesTest, ATurnIsGivenBackWhereItWasFoundOutMeanwhileThatNoneIsTaken) {
  FakeDriver::while_synchronizing = [this] { session_.ObserveOnly(base::WatchReason::kOneSided); };
  Launch();
  EXPECT_EQ(slot().hold, turn::FirstStretch(2));
  EXPECT_EQ(slot().rel, turn::FirstStretch(2));
}

TEST_F(SessionTest, DestroyedCommunicatorGivesTheTurnBack) {
  TakeTurns();
  session_.OnCommunicatorEnd(&kComm);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1"));
}

// The work that an abort waits for may itself wait for the abort.
class AbortTest : public SessionTest {
 protected:
  // Returns whether `call` comes to its end while a launch waits for room on its stream and holds the
  // session's lock.
  bool ThroughWhileALaunchWaits(std::function<void()> call) {
    Collective(10);
    Collective(20);
    Join();
    bool through = false;
    std::future<void> called;
    FakeDriver::while_queueing = [&] {
      if (called.valid()) return;
      called = std::async(std::launch::async, call);
      through = called.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
    };
    Launch();
    return through;
  }
};

TEST_F(AbortTest, QueuesNothingAndWaitsForNothing) {
  TakeTurns();
  EXPECT_TRUE(ThroughWhileALaunchWaits([this] { session_.OnCommunicatorAbort(&kComm); }));
  FakeDriver::calls.clear();
  session_.OnCommunicatorAbort(&kComm);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  EXPECT_FALSE(session_.Knows(&kComm));
}

TEST_F(AbortTest, AThreadThatLooksAtEventsComesToItsAbort) {
  TakeTurns();
  EXPECT_TRUE(ThroughWhileALaunchWaits([this] {
    session_.OnHostSawEvent(kEvent, false);
    session_.OnHostSawStream(kSide);
  }));
}

TEST_F(AbortTest, TheNextCommunicatorsCollectiveEndsTheTurn) {
  TakeTurns();
  session_.OnCommunicatorAbort(&kComm);
  session_.OnCommunicator(&kComm, 4);  // the handle is given out again
  Collective(10);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1", "nccl 10"));
}

TEST_F(TimeSlicedSessionTest, AnAbortedCommunicatorsCollectiveIsNotWaitedFor) {
  TakeTurns();
  Collective(10);
  Collective(20);
  slot().hold = session_.Asked();
  page_.slot[1].mode = CROSSOVER_MODE_GATE;
  page_.slot[1].ready = turn::FirstStretch(1);
  session_.OnCommunicatorAbort(&kComm);
  for (int i = 0; i < 25; ++i) session_.OnTick();
  EXPECT_EQ(slot().rel, turn::FirstStretch(1));
}

TEST_F(SessionTest, DetachedTakesNothingAndTouchesNothing) {
  TakeTurns();
  session_.StopTaking();
  session_.Detach();
  const crossover_page before = page_;
  Iterations(3);
  EXPECT_EQ(std::memcmp(&before, &page_, sizeof page_), 0);
  EXPECT_EQ(FakeDriver::calls.size(), 6u) << "the collectives alone";
}

TEST_F(SessionTest, StopTakingIsObeyedBetweenJoinAndLaunch) {
  TakeTurns();
  Launch();
  Collective(10);
  Launch();
  Collective(20);
  Join();
  session_.StopTaking();
  FakeDriver::calls.clear();
  Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(SessionTest, DriverThatStopsAcceptingMeansObserveOnly) {
  TakeTurns();
  FakeDriver::memops_supported = false;
  FakeDriver::host_functions_work = false;
  Iteration();
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kDriver));
  session_.ObserveOnly(base::WatchReason::kOneSided);
  FakeDriver::memops_supported = true;
  FakeDriver::host_functions_work = true;
  FakeDriver::calls.clear();
  Iterations(5);
  EXPECT_EQ(FakeDriver::calls.size(), 10u) << "the collectives alone";
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kDriver)) << "the first stays";
}

TEST_F(SessionTest, TurnHeldByALostContextIsGivenBackFromTheHost) {
  TakeTurns();
  slot().hold = session_.Asked();
  FakeDriver::context_lost = true;
  Iteration();
  EXPECT_EQ(slot().rel, slot().hold);
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kContextLost));
  FakeDriver::calls.clear();
  Iterations(5);
  EXPECT_EQ(FakeDriver::calls.size(), 10u) << "the collectives alone";
}

TEST_F(SessionTest, TurnThatALostContextWasNotLetIntoIsLeftToTheArbiter) {
  TakeTurns();
  slot().hold = session_.Asked() - 1;
  const crossover_slot before = slot();
  FakeDriver::context_lost = true;
  Iteration();
  EXPECT_EQ(slot().rel, before.rel);
  EXPECT_EQ(slot().gate, before.gate);
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kContextLost));
}

TEST_F(SessionTest, TurnsGoOnAfterReattachingWhereTheNewPageSays) {
  TakeTurns();
  session_.StopTaking();
  session_.Detach();
  crossover_page fresh = page_;
  fresh.slot[0].rel = fresh.slot[0].hold = fresh.slot[0].ready = turn::FirstStretch(41);
  fresh.slot[0].mode = CROSSOVER_MODE_OBSERVE;
  ASSERT_TRUE(session_.Attach(&fresh, 0));
  Iterations(4);
  fresh.slot[0].mode = CROSSOVER_MODE_GATE;
  Iterations(1);
  EXPECT_EQ(session_.Asked(), turn::FirstStretch(42));
  session_.StopTaking();
  session_.Detach();
}

TEST_F(SessionTest, NewStreamsAreFoundWhileTurnsAreTaken) {
  TakeTurns();
  session_.OnStreamCreate();
  Launch(kSecond);
  FakeDriver::calls.clear();
  Iteration();
  EXPECT_THAT(FakeDriver::calls, ::testing::Contains("wait 300"));
  Iterations(3);
  EXPECT_EQ(hook_flags, std::uint32_t{kHookCount});
}

class IdleTurnTest : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    TakeTurns();
    slot().hold = session_.Asked();  // the stream was let in
    page_.slot[2].ready = 1;         // slot 2 waits
    page_.slot[2].mode = CROSSOVER_MODE_GATE;
    slot().successor[0] = 2;
  }

  void Ticks() {
    for (int i = 0; i < 3; ++i) session_.OnTick();
  }

  bool GivenBack() { return slot().rel == slot().hold; }
};

TEST_F(IdleTurnTest, IsGivenBackAndTakenAgainByTheNextLaunch) {
  Ticks();
  EXPECT_TRUE(GivenBack());
  EXPECT_NE(page_.slot[2].gate, 0u) << "the one who waits is let in";
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

TEST_F(IdleTurnTest, IsKeptWhileWorkIsQueued) {
  FakeDriver::busy = FakeDriver::Stream(kCompute);
  Ticks();
  EXPECT_FALSE(GivenBack());
}

TEST_F(IdleTurnTest, IsKeptWhileNoneWaits) {
  page_.slot[2].hold = 1;
  Ticks();
  EXPECT_FALSE(GivenBack());
}

TEST_F(IdleTurnTest, IsKeptFromOneThatWasKilledWhileItWaited) {
  page_.slot[2].mode = CROSSOVER_MODE_OFF;
  Ticks();
  EXPECT_FALSE(GivenBack());
}

TEST_F(IdleTurnTest, IsKeptWhileItsAcquireIsNotThroughYet) {
  slot().hold = session_.Asked() - 1;
  Ticks();
  EXPECT_EQ(slot().rel, 0u);
}

TEST_F(IdleTurnTest, IsKeptDuringACapture) {
  session_.OnBeginCapture({kSide});
  Ticks();
  EXPECT_FALSE(GivenBack());
  session_.OnEndCapture(kSide);
  Ticks();
  EXPECT_TRUE(GivenBack());
}

TEST_F(IdleTurnTest, OneIdleMomentIsNoIdleness) {
  for (int i = 0; i < 5; ++i) {
    session_.OnTick();
    FakeDriver::busy = FakeDriver::Stream(kCompute);
    session_.OnTick();
    FakeDriver::busy = nullptr;
  }
  EXPECT_FALSE(GivenBack());
}

TEST_F(SessionTest, TellsForHowLongItsHostLaunchesNothing) {
  constexpr std::chrono::milliseconds kInput{2};
  const auto told_us = [this] {
    crossover_profile profile{};
    EXPECT_TRUE(session_.FillProfile(&profile));
    return static_cast<std::int64_t>(profile.input_wait) - 1;
  };
  TakeTurns();
  EXPECT_EQ(told_us(), -1) << "it is not known yet";
  const auto iterations = [this](std::chrono::milliseconds input) {
    for (int i = 0; i < 10; ++i) {
      Launch();
      Collective(10);
      Launch();
      Collective(20);
      session_.OnHostWaitStream(kSide);
      std::this_thread::sleep_for(input);
      Launch();
    }
  };
  iterations(kInput);
  EXPECT_GE(told_us(), 2000);
  Iterations(20);
  EXPECT_EQ(told_us(), 0) << "the stream waits for the collective, and the host does not";
}

TEST_F(TimeSlicedSessionTest, DoesNotTellForHowLongItsHostLaunchesNothing) {
  TakeTurns();
  for (int i = 0; i < 10; ++i) {
    Iteration();
    session_.OnHostWaitStream(kSide);
  }
  crossover_profile profile{};
  ASSERT_TRUE(session_.FillProfile(&profile));
  EXPECT_EQ(profile.input_wait, 0u) << "the turn lasts until the next launch, so the wait is a part of it";
}

TEST_F(IdleTurnTest, ItIsToldHowLongTheNextLaunchIsAwaited) {
  constexpr std::chrono::milliseconds kInput{2};
  for (int i = 0; i < 10; ++i) {
    Ticks();
    std::this_thread::sleep_for(kInput);
    Launch();
    slot().hold = session_.Asked();
    Collective(10);
    Launch();
    Collective(20);
    slot().rel = slot().hold;
    Join();
    Launch();
    slot().hold = session_.Asked();
  }
  crossover_profile profile{};
  ASSERT_TRUE(session_.FillProfile(&profile));
  EXPECT_GE(profile.input_wait, 2000u);
}

// Another thread of the user's asks at times whether collectives have ended.
class WatchdogTest : public SessionTest {
 protected:
  static constexpr phase::EventKey kEnd = 0x5000;

  void WatchedIteration() {
    Launch();
    Collective(10);
    session_.OnRecord(kEnd, kSide);
    Launch();
    random_ = random_ * 1103515245u + 12345u;
    if ((random_ >> 16) % 3 == 0) session_.OnHostSawEvent(kEnd, false);
    if ((random_ >> 18) % 3 == 0) session_.OnHostSawStream(kSide);
    Collective(20);
    Join();
    Launch();
  }

  unsigned random_ = 1;
};

TEST_F(WatchdogTest, LooksAndNoneHasWaited) {
  for (int i = 0; i < 4; ++i) WatchedIteration();
  for (int i = 0; i < 1000; ++i) {
    WatchedIteration();
    ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED)) << i;
  }
}

// PyTorch makes no wait for a collective that the thread that calls it has found done before.
class LeftOutWaitTest : public WatchdogTest {
 protected:
  // Runs a broadcast and two buckets. `done` says that the broadcast is done when the thread asks.
  void BroadcastIteration(bool done) {
    Launch();
    Collective(5);
    session_.OnRecord(kEnd, kSide);
    if (done) {
      session_.OnHostSawEvent(kEnd, calls_collectives);
    } else {
      session_.OnStreamWait(kCompute, kEnd);
    }
    Iteration();
  }
  bool Random() {
    random_ = random_ * 1103515245u + 12345u;
    return (random_ >> 16) % 2 == 0;
  }
};

TEST_F(LeftOutWaitTest, TurnsGoOnAtTheSameCalls) {
  for (int i = 0; i < 10; ++i) BroadcastIteration(Random());
  ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
  slot().mode = CROSSOVER_MODE_GATE;
  for (int i = 0; i < 10; ++i) BroadcastIteration(Random());
  ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  for (int i = 0; i < 100; ++i) {
    const turn::TurnNumber before = session_.Asked();
    BroadcastIteration(i % 2 == 0 || Random());
    ASSERT_EQ(turn::TurnOf(session_.Asked()), turn::TurnOf(before) + 2) << i;
  }
}

TEST_F(LeftOutWaitTest, WhatAnotherThreadSeesLeavesOutNothing) {
  BroadcastIteration(false);
  EXPECT_TRUE(calls_collectives);
  bool of_another = true;
  std::thread([&] { of_another = calls_collectives; }).join();
  EXPECT_FALSE(of_another);
}

TEST_F(WatchdogTest, JobsThatWaitByLookingAreFoundOut) {
  const auto iteration = [&] {
    Launch();
    Collective(10);
    Launch();
    Collective(20);
    session_.OnRecord(kEnd, kSide);
    session_.OnHostSawEvent(kEnd, false);
    Launch();
  };
  for (int i = 0; i < 50; ++i) iteration();
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
  slot().mode = CROSSOVER_MODE_GATE;
  iteration();
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
}

// These limits are those of docs/design/0003-hooks-and-phases.md, Limits.
class PollingTest : public WatchdogTest {
 protected:
  // Runs two collectives that are joined by polling. With `waits` the job really waits for the first one.
  void PolledIteration(bool waits = false) {
    Launch();
    Collective(10);
    if (waits) session_.OnHostWaitStream(kSide);
    Launch();
    Collective(20);
    session_.OnRecord(kEnd, kSide);
    session_.OnHostSawEvent(kEnd, false);
    Launch();
  }
  bool Locked() { return slot().phase == static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED); }
  static constexpr int kIterationsForgotten = 256 / 2;
};

TEST_F(PollingTest, ARealWaitMakesLooksCountForNothingFor256Collectives) {
  for (int i = 0; i < 50; ++i) PolledIteration();
  ASSERT_TRUE(Locked());
  PolledIteration(true);
  for (int i = 1; i < kIterationsForgotten; ++i) {
    PolledIteration();
    ASSERT_FALSE(Locked()) << i;
  }
  for (int i = 0; i < 8; ++i) PolledIteration();
  EXPECT_TRUE(Locked());
}

TEST_F(PollingTest, AWaitForWhatWasSeenToBeDoneIsNone) {
  for (int i = 0; i < 50; ++i) PolledIteration();
  for (int i = 0; i < 50; ++i) {
    PolledIteration();
    session_.OnHostWaitStream(kSide);
    ASSERT_TRUE(Locked()) << i;
  }
}

TEST_F(PollingTest, RealWaitsThatComeMoreOftenLeaveItLearningAndItIsToldWhy) {
  slot().mode = CROSSOVER_MODE_GATE;
  for (int i = 0; i < 20; ++i) {
    PolledIteration(true);
    for (int j = i; j < kIterationsForgotten - 2; ++j) PolledIteration();  // one fewer each time
  }
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kNoPeriod));
  EXPECT_EQ(session_.Asked(), 0u);
}

// NCCL is linked into the program, and its collectives are known as kernels.
class LinkedNcclTest : public SessionTest {
 protected:
  static constexpr phase::EventKey kOfNccl = 0x2000;

  void SetUp() override {
    SessionTest::SetUp();
    session_.WatchKernels(true);
    session_.EndSilence();
  }

  void Kernel(std::uint64_t blocks, phase::StreamKey stream = kSide) {
    session_.BeforeNcclKernel(&kComm, {0, 77, blocks, 0, 0, 0}, stream);
    FakeDriver::calls.push_back("kernel");
    session_.OnRecord(kOfNccl, stream);
  }

  // Runs two buckets. NCCL finds out that the first has ended while it is called for the second.
  void LinkedIteration() {
    Launch();
    Kernel(4);
    Launch();
    session_.OnHostSawEvent(kOfNccl, false);
    Kernel(4);
    if (polls_) {
      session_.OnRecord(kEvent, kSide);
      session_.OnHostSawEvent(kEvent, false);
    } else {
      Join();
    }
    Launch();
  }

  bool polls_ = false;  // the job itself waits by polling

  // Runs compute and every collective on one stream.
  void AlikeIteration() {
    Launch();
    Kernel(4, kCompute);
  }
};

TEST_F(LinkedNcclTest, ReleasesBeforeTheKernelOfTheLastBucket) {
  for (int i = 0; i < 4; ++i) LinkedIteration();
  slot().mode = CROSSOVER_MODE_GATE;
  LinkedIteration();
  ASSERT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  FakeDriver::calls.clear();
  LinkedIteration();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("kernel", "memop 100 gate=2 rel=1", "kernel",
                                             "memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

TEST_F(LinkedNcclTest, WhatNcclLooksAtIsNoWaitInAJobThatPollsEither) {
  polls_ = true;
  for (int i = 0; i < 100; ++i) LinkedIteration();
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
  crossover_profile profile{};
  ASSERT_TRUE(session_.FillProfile(&profile));
  EXPECT_EQ(profile.period_tokens, 2u);
}

TEST_F(LinkedNcclTest, LaunchesThatAreOnlyLookedAtTakeNoLock) {
  for (int i = 0; i < 5; ++i) LinkedIteration();
  EXPECT_EQ(hook_flags, std::uint32_t{kHookKernels});
  crossover_profile before{}, after{};
  ASSERT_TRUE(session_.FillProfile(&before));
  Launch();
  ASSERT_TRUE(session_.FillProfile(&after));
  EXPECT_EQ(after.launches, before.launches);
  session_.WatchKernels(false);
  EXPECT_EQ(hook_flags, 0u);
}

TEST_F(LinkedNcclTest, KernelsThatAreAllAlikeAreWatchedOnly) {
  slot().mode = CROSSOVER_MODE_GATE;
  ::testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < 100; ++i) AlikeIteration();
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_EQ(slot().watch_reason, 0u) << "a longer period may still be found";
  for (std::size_t i = 0; i < 1000; ++i) AlikeIteration();
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kAlike));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::EndsWith("its kernels are all alike\n"));
  EXPECT_EQ(std::count(FakeDriver::calls.begin(), FakeDriver::calls.end(), "kernel"),
            static_cast<std::ptrdiff_t>(FakeDriver::calls.size()))
      << "nothing was queued";
  // Kernels that are not all alike any more may be gated again.
  for (int i = 0; i < 6; ++i) Kernel(8), LinkedIteration();
  EXPECT_EQ(slot().watch_reason, 0u);
}

// These are more turns than an iteration may have. The job says why it takes none, once, until it trains in
// another way.
TEST_F(LinkedNcclTest, LayersThatCommunicateOneByOneAreWatchedUntilAPeriodHasTurns) {
  slot().mode = CROSSOVER_MODE_GATE;
  ::testing::internal::CaptureStderr();
  const auto layers = [this](int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (std::uint64_t layer = 1; layer <= phase::Detector::kMaxTurns + 1; ++layer) {
        Launch();
        Kernel(layer, kCompute);
      }
    }
  };
  layers(40);
  EXPECT_EQ(slot().watch_reason, 0u) << "a longer period may still be found";
  layers(60);
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kInnerWaits));
  EXPECT_EQ(session_.Asked(), 0u);
  for (int i = 0; i < 6; ++i) LinkedIteration();
  EXPECT_EQ(slot().watch_reason, 0u);
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  layers(100);
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kInnerWaits));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("has more than 4 turns; CROSSOVER_TURNS_AT_WAITS=1 in the environment"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(SessionTest, SaysThatNoIterationRepeats) {
  slot().mode = CROSSOVER_MODE_GATE;
  ::testing::internal::CaptureStderr();
  std::uint64_t count = 1;
  for (int i = 0; i < 2000; ++i) {
    Launch();
    Collective(++count);
    Join();
  }
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kNoPeriod));
  EXPECT_EQ(session_.Asked(), 0u);
  for (int i = 0; i < 400; ++i) Iteration();
  EXPECT_EQ(slot().watch_reason, 0u);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said,
              HasSubstr("takes no turns: no iteration of up to 256 collectives repeats; with Horovod, "));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(LinkedNcclTest, CallsThatAreAllAlikeAreAnIterationEach) {
  slot().mode = CROSSOVER_MODE_GATE;
  for (int i = 0; i < 6; ++i) {
    Launch();
    Collective(4, kCompute);
  }
  EXPECT_EQ(slot().phase, static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING))
      << "how much they move is known";
}

// The launching thread waits from here on, and the turns go on.
class SessionThatFallsBackTest : public SessionTest {
 protected:
  void ExpectHostGates() {
    crossover_profile profile{};
    ASSERT_TRUE(session_.FillProfile(&profile));
    EXPECT_EQ(profile.transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_HOST_GATES));
    EXPECT_EQ(slot().watch_reason, 0u);
    slot().gate = turn::OpenAny(slot().ready);
    const std::uint32_t before = slot().hold;
    Iteration();
    EXPECT_EQ(slot().hold, turn::NextTurn(before));
    Collective(10);
    Collective(20);
    EXPECT_EQ(slot().rel, slot().hold);
  }
};

TEST_F(SessionThatFallsBackTest, WhereATurnCannotBeTaken) {
  TakeTurns();
  Collective(10);
  Collective(20);
  Join();
  FakeDriver::memops_supported = false;
  slot().rel = turn::FirstStretch(1);  // what the stream would have written
  slot().gate = turn::OpenAny(0);
  ::testing::internal::CaptureStderr();
  Launch();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::EndsWith("host gates instead\n"));
  EXPECT_EQ(slot().hold, turn::FirstStretch(2)) << "this turn is taken already";
  ExpectHostGates();
}

TEST_F(SessionThatFallsBackTest, WhereATurnCannotBeGivenBack) {
  TakeTurns();
  FakeDriver::memops_supported = false;
  Collective(10);
  ::testing::internal::CaptureStderr();
  Collective(20);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::EndsWith("host gates instead\n"));
  EXPECT_EQ(slot().rel, turn::FirstStretch(1)) << "the neighbour waits for it";
  Join();
  slot().gate = turn::OpenAny(0);
  Launch();
  ExpectHostGates();
}

TEST(SessionWithoutGpuGatesTest, FallsBackToHostGatesAndTakesTurns) {
  FakeDriver::Clear();
  hook_flags = 0;
  watching = false;
  FakeDriver::memops_supported = false;
  const gates::Driver driver = FakeDriver::Table();
  crossover_page page{};
  Session session;
  session.WatchKernels(false);
  session.SetUp(&driver, FakeDriver::context(), CROSSOVER_TRANSPORT_GPU_GATES, true);
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(session.Attach(&page, 0));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("host gates"));
  crossover_profile profile{};
  session.FillProfile(&profile);
  EXPECT_EQ(profile.transport, static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_HOST_GATES));
  session.OnCommunicator(&kComm, 2);
  page.slot[0].mode = CROSSOVER_MODE_OBSERVE;
  const auto iteration = [&] {
    if (hook_flags != 0) session.BeforeLaunch(kCompute);
    session.BeforeCollective(&kComm, {0, 0, 1, 7, 0, 0}, kCompute);
    if (hook_flags != 0) session.BeforeLaunch(kCompute);
  };
  for (int i = 0; i < 5; ++i) iteration();
  page.slot[0].mode = CROSSOVER_MODE_GATE;
  page.slot[0].gate = 1;
  iteration();
  EXPECT_EQ(page.slot[0].hold, turn::FirstStretch(1));
  iteration();
  EXPECT_GE(page.slot[0].rel, 1u);
}

TEST_F(SessionTest, WhatAPeriodCallsIsToldToEachArbiter) {
  constexpr char kPart = 0;
  const std::vector<char> id(128, 'x');
  session_.OnCommunicatorId(&kPart, id);
  session_.OnCommunicator(&kPart, 4, 3);
  const auto iterations = [&](int count) {
    for (int i = 0; i < count; ++i) {
      Launch();
      session_.BeforeCollective(&kPart, {0, 0, 10, 7, 0, 0}, kSide, 0,
                                {CROSSOVER_ALL_REDUCE, CROSSOVER_NO_PEER, 40});
      Join();
    }
  };
  arbiter_client::ToArbiter message;
  iterations(4);
  EXPECT_FALSE(session_.NextMessage(&message)) << "no period is sure yet";
  iterations(40);
  ASSERT_TRUE(session_.NextMessage(&message));
  EXPECT_EQ(message.header.type, static_cast<std::uint32_t>(CROSSOVER_CALLS));
  EXPECT_EQ(message.header.bytes, sizeof(crossover_calls));
  ASSERT_EQ(message.calls.count, 1u);
  EXPECT_EQ(message.calls.call[0].communicator, CommunicatorNames::NumberOf(id));
  EXPECT_EQ(message.calls.call[0].rank, 3u);
  EXPECT_EQ(message.calls.call[0].bytes, 40u);
  EXPECT_FALSE(session_.NextMessage(&message));
  session_.Detach();
  ASSERT_TRUE(session_.Attach(&page_, 0));
  EXPECT_TRUE(session_.NextMessage(&message)) << "the next arbiter learns it at once";
}

TEST_F(SessionTest, TheNewestReportOfReductionsIsToldToEachArbiter) {
  arbiter_client::ToArbiter message;
  EXPECT_FALSE(session_.NextMessage(&message));
  session_.Detach();  // a report that comes while no arbiter is there waits for the next one
  crossover_reductions report{};
  report.narrowed[2] = 1;
  session_.ReportReductions(report);
  report.narrowed[2] = 2;
  session_.ReportReductions(report);
  ASSERT_TRUE(session_.Attach(&page_, 0));
  ASSERT_TRUE(session_.NextMessage(&message));
  EXPECT_EQ(message.header.type, static_cast<std::uint32_t>(CROSSOVER_REDUCTIONS));
  EXPECT_EQ(message.header.bytes, sizeof(crossover_reductions));
  EXPECT_EQ(message.header.version, CROSSOVER_PROTOCOL_VERSION);
  EXPECT_EQ(message.reductions.narrowed[2], 2u);
  EXPECT_FALSE(session_.NextMessage(&message)) << "it is told once";
  session_.Detach();
  ASSERT_TRUE(session_.Attach(&page_, 0));
  ASSERT_TRUE(session_.NextMessage(&message)) << "the next arbiter learns it at once";
  EXPECT_EQ(message.reductions.narrowed[2], 2u);
}

TEST_F(SessionTest, WithoutAReportOfReductionsNoArbiterIsTold) {
  arbiter_client::ToArbiter message;
  session_.Detach();
  ASSERT_TRUE(session_.Attach(&page_, 0));
  EXPECT_FALSE(session_.NextMessage(&message));
}

}  // namespace
}  // namespace crossover::session
