#include "sidecar/gates/host_gate.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "common/base/futex.h"
#include "tests/unit/sidecar/fake_driver.h"

namespace crossover::gates {
namespace {

using test::FakeDriver;

constexpr turn::TurnNumber kFirst = turn::FirstStretch(1);

class HostGateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeDriver::Clear();
    ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 0));
  }

  const Driver driver_ = FakeDriver::Table();
  crossover_page page_{};
  HostGate gate_;
};

TEST_F(HostGateTest, WaitsForTheGateAndWritesTheSameWords) {
  std::thread granter([this] {
    while (base::LoadWord(&page_.slot[0].ready) != kFirst)
      base::FutexWait(&page_.slot[0].ready, 0, 1'000'000);
    EXPECT_EQ(page_.slot[0].hold, 0u) << "in before the gate is open";
    OpenOwnGate(&page_, 0, kFirst);
  });
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), kFirst));
  granter.join();
  EXPECT_EQ(page_.slot[0].hold, kFirst);
  EXPECT_EQ(page_.slot[0].gate, turn::LastStretch(kFirst)) << "shut for the next turn";
  EXPECT_EQ(page_.slot[0].faults, 0u);
}

TEST_F(HostGateTest, AsksOnlyOnceTheStreamIsThere) {
  page_.slot[0].gate = kFirst;
  gate_.Acquire(FakeDriver::Stream(0x100), kFirst);
  EXPECT_THAT(FakeDriver::calls, ::testing::ElementsAre("record 100", "synchronize"));
}

TEST_F(HostGateTest, WaitsForTheStreamWithoutSpoilingACaptureThatBeginsMeanwhile) {
  page_.slot[0].gate = kFirst;
  FakeDriver::while_synchronizing = [] { FakeDriver::capturing = FakeDriver::Stream(0x200); };
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), kFirst));
  EXPECT_EQ(FakeDriver::capture_mode, CU_STREAM_CAPTURE_MODE_GLOBAL) << "the thread is the user's";
}

TEST_F(HostGateTest, ReleaseIsAHostFunctionThatOpensTheSuccessor) {
  EXPECT_TRUE(gate_.Release(FakeDriver::Stream(0x100), turn::FirstStretch(4), {2, 77}));
  EXPECT_THAT(FakeDriver::calls, ::testing::ElementsAre("hostfunc 100"));
  EXPECT_EQ(page_.slot[2].gate, 77u);
  EXPECT_EQ(page_.slot[0].rel, turn::FirstStretch(4));
}

// Another gate took the first turn, and this one queued its release, which the stream never reaches.
TEST_F(HostGateTest, WaitsOnceForATurnThatAnotherGateTookAndThatIsNeverGivenBack) {
  constexpr turn::TurnNumber kSecond = turn::FirstStretch(2);
  FakeDriver::host_functions_run = false;
  EXPECT_TRUE(gate_.Release(FakeDriver::Stream(0x100), kFirst, {0, turn::OpenAny(kSecond)}));
  page_.slot[0].gate = turn::OpenAny(kSecond);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x200), kSecond));
  const auto waited = std::chrono::steady_clock::now() - began;
  EXPECT_GE(waited, std::chrono::milliseconds(900));
  EXPECT_LT(waited, std::chrono::milliseconds(1800));
}

TEST_F(HostGateTest, OpensItsOwnGateWhenNoOtherDoes) {
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), kFirst));
  EXPECT_EQ(page_.slot[0].hold, kFirst);
  EXPECT_EQ(page_.slot[0].faults, 1u);
}

// The arbiter is alive. The first turn is given back, but the host function that writes so has not run yet.
class NextTurnTest : public HostGateTest {
 protected:
  static constexpr turn::TurnNumber kSecond = turn::FirstStretch(2);

  void SetUp() override {
    HostGateTest::SetUp();
    page_.slot[0].gate = kFirst;
    EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), kFirst));
    FakeDriver::host_functions_run = false;
    EXPECT_TRUE(gate_.Release(FakeDriver::Stream(0x100), kFirst, {0, turn::OpenAny(kSecond)}));
    beats_ = std::thread([this] {
      for (std::uint32_t beat = 1; !through_; ++beat) {
        base::StoreWord(&page_.arbiter_beat, beat);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
  }
  void TearDown() override {
    through_ = true;
    beats_.join();
  }

  // Returns how long it takes to have the second turn.
  std::chrono::milliseconds TakeSecond() {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x200), kSecond));
    EXPECT_EQ(page_.slot[0].hold, kSecond);
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  }

  std::atomic<bool> through_{false};
  std::thread beats_;
};

TEST_F(NextTurnTest, ComesThoughANeighbourSaysThatTheOneBeforeIsHeld) {
  FakeDriver::RunHostFunctions();
  ASSERT_EQ(page_.slot[0].rel, kFirst);
  page_.slot[0].rel = 0;
  EXPECT_LT(TakeSecond(), std::chrono::milliseconds(500));
}

TEST_F(NextTurnTest, IsAskedForOnceTheOneBeforeWasGivenBack) {
  std::atomic<bool> given_back{false};
  std::thread stream([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(base::LoadWord(&page_.slot[0].ready), kFirst);
    given_back = true;
    FakeDriver::RunHostFunctions();
  });
  TakeSecond();
  EXPECT_TRUE(given_back);
  stream.join();
}

TEST_F(NextTurnTest, IsNotWaitedForWithoutEndWhereTheOneBeforeIsNeverGivenBack) {
  page_.slot[0].gate = turn::OpenAny(kSecond);
  EXPECT_LT(TakeSecond(), std::chrono::milliseconds(2000));
}

}  // namespace
}  // namespace crossover::gates
