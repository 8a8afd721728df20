#include "sidecar/gates/host_gate.h"

#include <gmock/gmock.h>

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

TEST_F(HostGateTest, OpensItsOwnGateWhenNobodyDoes) {
  EXPECT_TRUE(gate_.Acquire(FakeDriver::Stream(0x100), kFirst));
  EXPECT_EQ(page_.slot[0].hold, kFirst);
  EXPECT_EQ(page_.slot[0].faults, 1u);
}

}  // namespace
}  // namespace crossover::gates
