#include "sidecar/gates/gpu_gate.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <string>

#include "tests/unit/sidecar/fake_driver.h"

namespace crossover::gates {
namespace {

using test::FakeDriver;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpuGateTest : public ::testing::Test {
 protected:
  void SetUp() override { FakeDriver::Clear(); }

  const Driver driver_ = FakeDriver::Table();
  crossover_page page_{};
  GpuGate gate_;
};

TEST_F(GpuGateTest, QueuesATurnAsOneBatchEach) {
  ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 0));
  FakeDriver::calls.clear();
  const turn::TurnNumber k = turn::FirstStretch(7);
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), k));
  EXPECT_TRUE(gate_.Yield(FakeDriver::Stream(0x100), k));
  EXPECT_TRUE(gate_.Release(FakeDriver::Stream(0x100), k + 1, {2, turn::FirstStretch(99)}));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=7 | gate>=7 hold=7 gate=7.end",
                                             "memop 100 ready=7.1 rel=7 | gate>=7.1 hold=7.1 gate=7.end",
                                             "memop 100 gate2=99 rel=7.1"));
}

TEST_F(GpuGateTest, RefusedMemoryOperationsLeaveNothingBehind) {
  FakeDriver::memops_supported = false;
  EXPECT_FALSE(gate_.SetUp(&driver_, &page_, 0));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("unregister"));
}

// A client that asks must not read its gate before what it asks for is there for the arbiter to see.
TEST_F(GpuGateTest, EveryWaitHasABarrierInFrontOfIt) {
  ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 0));
  FakeDriver::calls.clear();
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), turn::FirstStretch(1)));
  EXPECT_TRUE(gate_.Yield(FakeDriver::Stream(0x100), turn::FirstStretch(1)));
  for (const std::string& call : FakeDriver::calls) EXPECT_THAT(call, HasSubstr(" | gate>="));
}

TEST_F(GpuGateTest, ADriverWithoutBarriersHasAGateWithoutThemAndTheLogWarns) {
  FakeDriver::barriers_supported = false;
  ::testing::internal::CaptureStderr();
  ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 0));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("two jobs may have a turn at once"));
  FakeDriver::calls.clear();
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), turn::FirstStretch(7)));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready=7 gate>=7 hold=7 gate=7.end"));
}

TEST_F(GpuGateTest, TriesAStoreBeforeTheUserDoes) {
  page_.slot[3].heartbeat = 41;
  ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 3));
  EXPECT_EQ(page_.slot[3].heartbeat, 42u);
  EXPECT_EQ(page_.slot[3].ready | page_.slot[3].hold | page_.slot[3].rel | page_.slot[3].gate, 0u);
}

TEST_F(GpuGateTest, AStoreThatDoesNotArriveIsNoGate) {
  FakeDriver::stores_arrive = false;
  EXPECT_FALSE(gate_.SetUp(&driver_, &page_, 0));
  EXPECT_THAT(FakeDriver::calls, Contains("unregister"));
}

TEST_F(GpuGateTest, AProcessThatEndsDoesNotWaitForTheStore) {
  const std::atomic<bool> ending{true};
  FakeDriver::stores_arrive = false;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(gate_.SetUp(&driver_, &page_, 0, &ending));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
  EXPECT_THAT(FakeDriver::calls, Contains("unregister"));
}

TEST_F(GpuGateTest, RefusedRegistrationIsNoGate) {
  FakeDriver::registration_works = false;
  EXPECT_FALSE(gate_.SetUp(&driver_, &page_, 0));
}

TEST_F(GpuGateTest, OldDriverWithoutMemoryOperationsIsNoGate) {
  Driver old = driver_;
  old.StreamBatchMemOp = nullptr;
  EXPECT_FALSE(gate_.SetUp(&old, &page_, 0));
}

class SignalledGateTest : public GpuGateTest {
 protected:
  void SetUp() override {
    GpuGateTest::SetUp();
    page_.slot[1].hold = k_ - 1;
    ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 1));
    FakeDriver::signal_lines = kLines;
    gate_.AwaitSignals(kLines);
    FakeDriver::calls.clear();
  }

  static constexpr CUdeviceptr kLines = 0x7000'0000;
  const turn::TurnNumber k_ = turn::FirstStretch(7);
  const CUstream stream_ = FakeDriver::Stream(0x100);
};

TEST_F(SignalledGateTest, QueuesTheOperationsOfSignalsAsOneBatchEach) {
  EXPECT_EQ(gate_.awaited(), k_ - 1) << "no stream waits yet";
  EXPECT_TRUE(gate_.Acquire(stream_, k_));
  EXPECT_EQ(gate_.awaited(), k_);
  EXPECT_TRUE(gate_.Yield(stream_, k_));
  EXPECT_TRUE(gate_.Release(stream_, k_ + 1, {2, turn::FirstStretch(99)}));
  EXPECT_THAT(FakeDriver::calls,
              ElementsAre("memop 100 ready1=7 | signal1>=1 | gate1>=7 hold1=7 signal1=0 gate1=7.end",
                          "memop 100 ready1=7.1 rel1=7 | gate1>=7.1 hold1=7.1 signal1=0 gate1=7.end",
                          "memop 100 gate2=99 signal2=1 rel1=7.1"));
}

// A neighbour's stream may wait for its signal, so releases write it as long as the driver takes that.
TEST_F(SignalledGateTest, AfterItStopsAwaitingReleasesStillWriteSignals) {
  gate_.StopAwaiting();
  EXPECT_TRUE(gate_.Acquire(stream_, k_));
  EXPECT_TRUE(gate_.Release(stream_, k_, {2, turn::FirstStretch(99)}));
  EXPECT_EQ(gate_.awaited(), k_ - 1);
  EXPECT_THAT(FakeDriver::calls, ElementsAre("memop 100 ready1=7 | gate1>=7 hold1=7 gate1=7.end",
                                             "memop 100 gate2=99 signal2=1 rel1=7"));
}

TEST_F(SignalledGateTest, ARefusedSignalIsATurnWithoutSignalsAndTheEndOfThem) {
  FakeDriver::signals_supported = false;
  EXPECT_TRUE(gate_.Acquire(stream_, k_));
  EXPECT_EQ(gate_.signals(), GpuGate::Signals::kNone);
  FakeDriver::signals_supported = true;
  EXPECT_TRUE(gate_.Release(stream_, k_, {2, turn::FirstStretch(99)}));
  EXPECT_THAT(FakeDriver::calls,
              ElementsAre("memop 100 ready1=7 | gate1>=7 hold1=7 gate1=7.end", "memop 100 gate2=99 rel1=7"));
  gate_.StopAwaiting();
  EXPECT_EQ(gate_.signals(), GpuGate::Signals::kNone);
}

TEST_F(SignalledGateTest, AnotherTurnstileBeginsWithoutSignals) {
  ASSERT_TRUE(gate_.SetUp(&driver_, &page_, 1));
  EXPECT_EQ(gate_.signals(), GpuGate::Signals::kNone);
}

TEST(HandoverTest, FollowsTheSuccessorAndOpensWhateverItAsksNext) {
  crossover_page page{};
  page.slot[1].successor[0] = 3;
  page.slot[3].ready = turn::FirstStretch(41);
  const Handover handover = ChooseHandover(&page, 1, turn::FirstStretch(5));
  EXPECT_EQ(handover.successor, 3u);
  EXPECT_TRUE(turn::AtOrPast(handover.open, turn::FirstStretch(42)));
}

TEST(HandoverTest, KeepsTheTurnWhereItIsItsOwnSuccessor) {
  crossover_page page{};
  page.slot[1].successor[0] = 1;
  const Handover handover = ChooseHandover(&page, 1, turn::FirstStretch(5));
  EXPECT_EQ(handover.successor, 1u);
  EXPECT_EQ(handover.open, turn::FirstStretch(6));
}

TEST(HandoverTest, SuccessorOutOfRangeIsNotFollowed) {
  crossover_page page{};
  page.slot[1].successor[0] = 0xffffffffu;
  EXPECT_EQ(ChooseHandover(&page, 1, turn::FirstStretch(5)).successor, 1u);
}

}  // namespace
}  // namespace crossover::gates
