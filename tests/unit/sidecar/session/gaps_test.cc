// Tests jobs whose collectives are not seen: their turns end when the GPU has nothing to do.
#include "sidecar/session/gaps.h"

#include <gmock/gmock.h>

#include "sidecar/session/hook_flags.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"
#include "tests/unit/sidecar/fake_driver.h"

namespace crossover::session {
namespace {

using test::FakeDriver;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr phase::StreamKey kCompute = 0x100;
constexpr phase::StreamKey kOther = 0x200;
constexpr char kComm = 0;

TEST(Gaps, AJobWithACommunicatorIsGivenLonger) {
  Gaps none, some;
  none.set_communicator(false);
  for (std::uint32_t i = 1; i < Gaps::kWithoutCommunicator; ++i) EXPECT_FALSE(none.OnLaunch());
  EXPECT_TRUE(none.OnLaunch());
  EXPECT_FALSE(none.OnLaunch()) << "it is one already";
  for (std::uint32_t i = 1; i < Gaps::kWithCommunicator; ++i) EXPECT_FALSE(some.OnLaunch());
  EXPECT_TRUE(some.OnLaunch());
}

TEST(Gaps, EachCollectiveBeginsTheCountAnew) {
  Gaps gaps;
  gaps.set_communicator(false);
  for (std::uint32_t i = 0; i < 10 * Gaps::kWithoutCommunicator; ++i) {
    if (i % 1000 == 0) gaps.OnCollective();
    EXPECT_FALSE(gaps.OnLaunch());
  }
}

class GapsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeDriver::Clear();
    hook_flags = 0;
    watching = false;
    session_.SetUp(&driver_, FakeDriver::context(), CROSSOVER_TRANSPORT_GPU_GATES, true);
    session_.ExpectNoCollectives();
    slot().mode = CROSSOVER_MODE_OBSERVE;
    ASSERT_TRUE(session_.Attach(&page_, 0));
    session_.WatchKernels(false);
    FakeDriver::calls.clear();
  }

  crossover_slot& slot() { return page_.slot[0]; }
  std::uint32_t phase() { return slot().phase; }

  void Launch(phase::StreamKey stream = kCompute, std::uint32_t times = 1) {
    for (std::uint32_t i = 0; i < times; ++i) {
      if (hook_flags != 0) session_.BeforeLaunch(stream);
    }
  }
  void Learn(phase::StreamKey stream = kCompute) { Launch(stream, Gaps::kWithoutCommunicator); }

  // Does what the GPU does once it is let in.
  void LetIn() { slot().hold = session_.Asked(); }
  void Ticks(int count = 3) {
    for (int i = 0; i < count; ++i) session_.OnTick();
  }
  bool Holds() { return slot().hold != slot().rel; }

  // Lets the session learn and begin its first turn.
  void TakeTurns() {
    Learn();
    slot().mode = CROSSOVER_MODE_GATE;
    Ticks(1);
    Launch();
    LetIn();
    FakeDriver::calls.clear();
  }

  const gates::Driver driver_ = FakeDriver::Table();
  crossover_page page_{
      CROSSOVER_TURNSTILE_MAGIC, 1, sizeof(crossover_page), CROSSOVER_MAX_CLIENTS, 0, 0, 0, {}, {}};
  Session session_;
};

TEST_F(GapsTest, IsLearnedFromLaunchesAloneAndQueuesNothing) {
  Launch(kCompute, Gaps::kWithoutCommunicator - 1);
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  Launch();
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
  EXPECT_EQ(slot().turns, 1u);
  EXPECT_EQ(hook_flags, 0u) << "launches are fast again";
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
}

TEST_F(GapsTest, ALaunchBeginsATurnAndAnIdleGpuEndsIt) {
  Learn();
  Ticks();
  Launch();
  EXPECT_THAT(FakeDriver::calls, IsEmpty()) << "no communicator asked for turns";
  slot().mode = CROSSOVER_MODE_GATE;
  Ticks(1);
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=1 | gate>=1 hold=1 gate=1.end"));
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_TAKING));
  EXPECT_EQ(hook_flags, std::uint32_t{kHookCount});
  LetIn();
  FakeDriver::busy = FakeDriver::Stream(kCompute);
  Ticks(50);
  EXPECT_TRUE(Holds());
  FakeDriver::busy = nullptr;
  Ticks();
  EXPECT_FALSE(Holds());
  FakeDriver::calls.clear();
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
  EXPECT_EQ(slot().periods, 2u) << "each turn is an iteration";
}

TEST_F(GapsTest, AllStreamsOfATurnHaveToBeDone) {
  Launch(kOther);
  TakeTurns();
  FakeDriver::busy = FakeDriver::Stream(kOther);
  Ticks(50);
  EXPECT_TRUE(Holds());
  FakeDriver::busy = nullptr;
  Ticks();
  EXPECT_FALSE(Holds());
}

TEST_F(GapsTest, AStreamThatWasCreatedLaterIsAskedToo) {
  TakeTurns();
  session_.OnStreamCreate();
  Launch();  // this launch sees that streams are looked for
  Launch(kOther);
  FakeDriver::busy = FakeDriver::Stream(kOther);
  Ticks(50);
  EXPECT_TRUE(Holds());
  Launch(kCompute, Gaps::kScan);
  EXPECT_EQ(hook_flags, std::uint32_t{kHookCount}) << "launches take no lock again";
}

TEST_F(GapsTest, TurnsThatAreNoLongerAskedForEndAtTheNextGapAndNoOtherBegins) {
  TakeTurns();
  slot().mode = CROSSOVER_MODE_OBSERVE;
  Ticks();
  EXPECT_FALSE(Holds());
  Ticks();
  Launch(kCompute, 3);
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  slot().mode = CROSSOVER_MODE_GATE;
  Ticks(1);
  Launch();
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=2 | gate>=2 hold=2 gate=2.end"));
}

TEST_F(GapsTest, SwitchedOffItForgetsEverythingOnceItsTurnIsOver) {
  TakeTurns();
  FakeDriver::busy = FakeDriver::Stream(kCompute);
  slot().mode = CROSSOVER_MODE_OFF;
  Ticks();
  EXPECT_TRUE(Holds()) << "nothing is queued from another thread";
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  FakeDriver::busy = nullptr;
  Ticks(4);
  EXPECT_FALSE(Holds());
  EXPECT_FALSE(watching);
  EXPECT_EQ(hook_flags, 0u);
  slot().mode = CROSSOVER_MODE_OBSERVE;
  Ticks(1);
  EXPECT_TRUE(watching);
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  Learn();
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LOCKED));
}

TEST_F(GapsTest, ACollectiveEndsIt) {
  TakeTurns();
  session_.OnCommunicator(&kComm, 2);
  session_.BeforeCollective(&kComm, {0, 0, 10, 7, 0, 0}, kOther);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 gate=2 rel=1"));
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  Ticks();
  Learn();
  EXPECT_EQ(FakeDriver::calls.size(), 1u) << "now it has a communicator, and may only be evaluating";
}

TEST_F(GapsTest, AContextThatMayEndIsAskedNothingAfterwards) {
  TakeTurns();
  session_.OnContextMayEnd();
  EXPECT_FALSE(Holds());
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
}

TEST_F(GapsTest, WhyNoTurnIsTakenAnyMoreIsTold) {
  TakeTurns();
  Ticks();
  ASSERT_FALSE(Holds());
  FakeDriver::context_lost = true;
  ::testing::internal::CaptureStderr();
  Launch();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("takes no turns"));
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kContextLost));
}

TEST_F(GapsTest, StreamsThatOnlyTheirThreadsCanAskAreWatched) {
  ::testing::internal::CaptureStderr();
  Launch(PerThreadStream(), Gaps::kWithoutCommunicator);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::EndsWith("its own threads can ask\n"));
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
  EXPECT_EQ(slot().watch_reason, static_cast<std::uint32_t>(base::WatchReason::kUnaskable));
  session_.OnCommunicator(&kComm, 2);
  session_.BeforeCollective(&kComm, {0, 0, 10, 7, 0, 0}, kOther);
  EXPECT_EQ(slot().watch_reason, 0u) << "whose collectives are seen has no such reason";
}

TEST_F(GapsTest, ATurnThatWouldBeginInAnotherContextIsNone) {
  Learn();
  slot().mode = CROSSOVER_MODE_GATE;
  Ticks(1);
  FakeDriver::other_context = reinterpret_cast<CUcontext>(0x78);
  ::testing::internal::CaptureStderr();
  Launch();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("takes no turns"));
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  EXPECT_EQ(phase(), static_cast<std::uint32_t>(CROSSOVER_PHASE_LEARNING));
}

}  // namespace
}  // namespace crossover::session
