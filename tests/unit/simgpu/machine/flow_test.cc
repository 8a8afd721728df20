#include "simgpu/machine/flow.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "simgpu/machine/machine.h"

namespace simgpu {
namespace {

constexpr Nanos kMs = 1'000'000;

// All tests share one machine, which has a state directory of its own.
class FlowTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string directory = testing::TempDir() + "simgpu-flow-" + std::to_string(getpid());
    setenv("SIMGPU_MACHINE",
           ("2x2,link_sharing=private,node_link_bytes_per_s=1e6,state=" + directory).c_str(), 1);
    unsetenv("SIMGPU_CONFIG");
    unsetenv("SIMGPU_NODE");
    unsetenv("SIMGPU_STATE");
  }
  void SetUp() override { ASSERT_NE(Machine::Get(), nullptr) << Machine::error(); }
};

TEST_F(FlowTest, WorkQueuedBackToBackHasNoGap) {
  const auto flow = Machine::Get()->OpenGpu(0);
  const Mark first = flow->Extend(2.0 * kMs), second = flow->Extend(3.0 * kMs);
  const Nanos first_end = flow->WaitServed(first), second_end = flow->WaitServed(second);
  EXPECT_EQ(second_end - first_end, 3 * kMs);
  EXPECT_LE(second_end, MonotonicNow());
  EXPECT_EQ(flow->ReachedAt(first), first_end) << "the past stays known";
}

TEST_F(FlowTest, TwoFlowsShareAGpu) {
  const auto a = Machine::Get()->OpenGpu(1), b = Machine::Get()->OpenGpu(1);
  const Nanos begin = MonotonicNow();
  const Mark a_end = a->Extend(5.0 * kMs), b_end = b->Extend(5.0 * kMs);
  const Nanos end = std::max(a->WaitServed(a_end), b->WaitServed(b_end));
  EXPECT_GE(end - begin, 10 * kMs);
}

TEST_F(FlowTest, LettingGoWakesTheWaiters) {
  const auto holder = Machine::Get()->OpenGpu(0), flow = Machine::Get()->OpenGpu(0);
  holder->Hold(132);
  const Mark end = flow->Extend(1.0 * kMs);
  EXPECT_EQ(flow->Forecast(end), kNever);
  EXPECT_EQ(flow->WaitServedUntil(end, MonotonicNow() + kMs), kNever);
  std::thread waiter([&] { flow->WaitServed(end); });
  holder->Hold(0);
  waiter.join();
  EXPECT_NE(flow->ReachedAt(end), kNever);
}

TEST_F(FlowTest, PrivateLinksDoNotShare) {
  Machine* machine = Machine::Get();
  const auto a = machine->OpenNodeLink(Direction::kOut, 1), b = machine->OpenNodeLink(Direction::kOut, 2),
             back = machine->OpenNodeLink(Direction::kIn, 1);
  const Mark a_end = a->Extend(5000), b_end = b->Extend(5000), back_end = back->Extend(5000);
  const Nanos from = MonotonicNow();
  // Each flow has 5000 bytes at 1e6 bytes per second, which takes 5 ms and not 10.
  EXPECT_LE(a->Forecast(a_end) - from, 5 * kMs);
  EXPECT_LE(b->Forecast(b_end) - from, 5 * kMs);
  EXPECT_LE(back->Forecast(back_end) - from, 5 * kMs);
}

TEST_F(FlowTest, OneCommunicatorsFlowsShareItsLink) {
  Machine* machine = Machine::Get();
  const auto a = machine->OpenNodeLink(Direction::kOut, 7), b = machine->OpenNodeLink(Direction::kOut, 7);
  const Nanos from = MonotonicNow();
  a->Extend(5000);
  const Mark end = b->Extend(5000);
  EXPECT_GE(b->WaitServed(end) - from, 10 * kMs);
}

TEST_F(FlowTest, MemoryIsLimited) {
  Machine* machine = Machine::Get();
  const std::uint64_t all = std::uint64_t{81920} << 20;
  EXPECT_FALSE(machine->ChargeMemory(0, all + 1));
  ASSERT_TRUE(machine->ChargeMemory(0, all));
  EXPECT_FALSE(machine->ChargeMemory(0, 1));
  EXPECT_EQ(machine->UsedMemory(0), all);
  EXPECT_EQ(machine->UsedMemory(1), 0u);
  machine->ReturnMemory(0, all);
  EXPECT_EQ(machine->UsedMemory(0), 0u);
}

TEST_F(FlowTest, MemoryIsToldByProcess) {
  Machine* machine = Machine::Get();
  EXPECT_TRUE(machine->UsedMemoryByProcess(0).empty());
  ASSERT_TRUE(machine->ChargeMemory(0, 1000));
  EXPECT_EQ(machine->UsedMemoryByProcess(0), (std::map<pid_t, std::uint64_t>{{getpid(), 1000}}));
  EXPECT_TRUE(machine->UsedMemoryByProcess(1).empty());
  machine->ReturnMemory(0, 1000);
}

TEST_F(FlowTest, StoresAreKnownByTheirPlaceInAPageAndTheirValue) {
  Machine* machine = Machine::Get();
  EXPECT_EQ(machine->StoredAt(0x7000'1040, 5), kNever);
  const Nanos before = MonotonicNow();
  machine->NoteStore(0x7000'1040, 5);
  const Nanos stored = machine->StoredAt(0x7000'1040, 5);
  EXPECT_GE(stored, before);
  EXPECT_LE(stored, MonotonicNow());
  EXPECT_EQ(machine->StoredAt(0x5555'2040, 5), stored) << "another process maps the page elsewhere";
  EXPECT_EQ(machine->StoredAt(0x7000'1044, 5), kNever);
  EXPECT_EQ(machine->StoredAt(0x7000'1040, 6), kNever);
  machine->NoteStore(0x7000'1040, 5);
  EXPECT_GT(machine->StoredAt(0x7000'1040, 5), stored) << "the last one counts";
  for (std::uint32_t i = 0; i < 256; ++i) machine->NoteStore(0x7000'2000, i);
  EXPECT_EQ(machine->StoredAt(0x7000'1040, 5), kNever) << "it is long ago";
}

TEST_F(FlowTest, GpusAreFoundByUuid) {
  int node = -1, gpu = -1;
  ASSERT_TRUE(Machine::Get()->FindGpu(DefaultUuid(1, 1), &node, &gpu));
  EXPECT_EQ(node, 1);
  EXPECT_EQ(gpu, 1);
  EXPECT_EQ(Machine::Get()->GlobalGpu(node, gpu), 3);
  EXPECT_FALSE(Machine::Get()->FindGpu("GPU-none", &node, &gpu));
}

}  // namespace
}  // namespace simgpu
