#include "sidecar/gates/relay_gate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <thread>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "tests/unit/sidecar/fake_driver.h"

namespace crossover::gates {
namespace {

using test::FakeDriver;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr turn::TurnNumber kFirstTurn = turn::FirstStretch(1);
CUstream Stream() { return FakeDriver::Stream(0x100); }

// The relay's thread lives as long as the process, and so does its gate.
class RelayGateTest : public ::testing::Test {
 protected:
  void SetUp() override { FakeDriver::Clear(); }

  static void Await(const std::uint32_t* word, std::uint32_t value) {
    while (base::LoadWord(word) != value) base::FutexWait(word, base::LoadWord(word), base::kNsPerMs);
  }

  // Makes the gate a client of slot 0. Its gate is shut.
  void Join(crossover_page* page) {
    ASSERT_TRUE(gate_.SetUp(&driver_, page, 0));
    FakeDriver::calls.clear();
  }

  const Driver driver_ = FakeDriver::Table();
  // The relay may still look at these when the test is over.
  struct Kept {
    crossover_page page{};
    RelayGate gate;
  };
  static Kept& Keep() {
    static auto* kept = new std::deque<Kept>;
    return kept->emplace_back();
  }
  Kept& kept_ = Keep();
  crossover_page& page_ = kept_.page;
  RelayGate& gate_ = kept_.gate;
};

TEST_F(RelayGateTest, TheStreamAsksAndWaitsAtAWordOfItsOwn) {
  Join(&page_);
  page_.slot[0].gate = kFirstTurn;
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("hostfunc 100", "memop 100 open>=1"));
  Await(&page_.slot[0].gate, turn::LastStretch(kFirstTurn));
  EXPECT_EQ(page_.slot[0].ready, kFirstTurn);
  EXPECT_EQ(page_.slot[0].hold, kFirstTurn);
}

TEST_F(RelayGateTest, TheRelayWaitsForTheGate) {
  Join(&page_);
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  Await(&page_.slot[0].ready, kFirstTurn);
  EXPECT_EQ(base::LoadWord(&page_.slot[0].hold), 0u) << "in before the gate is open";
  OpenOwnGate(&page_, 0, kFirstTurn);
  Await(&page_.slot[0].hold, kFirstTurn);
}

// The words that streams wait at are gone with their context.
TEST_F(RelayGateTest, WhatWaitsWhereTheContextEndsGoesOnAndIsLeftAlone) {
  alignas(64) static std::uint32_t words[1024];  // not the fake's, which relays of other tests write to
  static Driver driver = FakeDriver::Table();
  driver.MemHostAlloc = [](void** memory, std::size_t, unsigned int) {
    *memory = words;
    return CUDA_SUCCESS;
  };
  const auto opened = [] {
    return std::count_if(std::begin(words), std::end(words),
                         [](std::uint32_t& word) { return base::LoadWord(&word) == kFirstTurn; });
  };
  ASSERT_TRUE(gate_.SetUp(&driver, &page_, 0));
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  Await(&page_.slot[0].ready, kFirstTurn);
  EXPECT_EQ(opened(), 0);
  gate_.LeaveMemory();
  EXPECT_EQ(opened(), 1);
  for (std::uint32_t& word : words) base::StoreWord(&word, 0);
  gate_.LeaveMemory();  // once more, at the end of the process
  EXPECT_EQ(opened(), 0);
  OpenOwnGate(&page_, 0, kFirstTurn);
  Await(&page_.slot[0].gate, turn::LastStretch(kFirstTurn));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(opened(), 0);
}

// The relay opens no line any more, so a wait that is queued now would never end.
TEST_F(RelayGateTest, OnceTheLinesAreLeftNothingIsQueuedAndNothingIsGivenBack) {
  Join(&page_);
  gate_.LeaveMemory();
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  EXPECT_TRUE(gate_.Release(Stream(), kFirstTurn, {2, 77}));
  EXPECT_THAT(FakeDriver::calls, IsEmpty());
  EXPECT_EQ(page_.slot[0].ready | page_.slot[0].rel | page_.slot[2].gate, 0u);
}

TEST_F(RelayGateTest, ATurnThatWasTakenBeforeTheLinesWereLeftIsGivenBack) {
  Join(&page_);
  page_.slot[0].gate = kFirstTurn;
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  Await(&page_.slot[0].hold, kFirstTurn);
  gate_.LeaveMemory();
  EXPECT_TRUE(gate_.Release(Stream(), kFirstTurn, {2, 77}));
  EXPECT_EQ(page_.slot[2].gate, 77u);
}

// A thread that was about to queue its wait when the lines were left finds its line open.
TEST_F(RelayGateTest, AWaitThatIsBeingQueuedMeanwhileIsLetGo) {
  alignas(64) static std::uint32_t words[1024];
  static Driver driver = FakeDriver::Table();
  driver.MemHostAlloc = [](void** memory, std::size_t, unsigned int) {
    *memory = words;
    return CUDA_SUCCESS;
  };
  ASSERT_TRUE(gate_.SetUp(&driver, &page_, 0));
  FakeDriver::host_functions_run = false;
  FakeDriver::while_queueing = [this] { gate_.LeaveMemory(); };
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  FakeDriver::while_queueing = nullptr;
  EXPECT_EQ(std::count_if(std::begin(words), std::end(words),
                          [](std::uint32_t& word) { return base::LoadWord(&word) == kFirstTurn; }),
            1);
}

TEST_F(RelayGateTest, AsksOnlyOnceTheStreamIsThere) {
  Join(&page_);
  FakeDriver::host_functions_run = false;
  page_.slot[0].gate = kFirstTurn;
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  EXPECT_EQ(base::LoadWord(&page_.slot[0].ready), 0u);
  FakeDriver::RunHostFunctions();
  Await(&page_.slot[0].hold, kFirstTurn);
}

TEST_F(RelayGateTest, YieldsAndGivesBackWhereTheStreamIs) {
  Join(&page_);
  page_.slot[0].hold = kFirstTurn;
  page_.slot[0].gate = turn::LastStretch(kFirstTurn);
  EXPECT_TRUE(gate_.Yield(Stream(), kFirstTurn));
  EXPECT_EQ(page_.slot[0].rel, kFirstTurn);
  Await(&page_.slot[0].hold, kFirstTurn + 1);
  EXPECT_TRUE(gate_.Release(Stream(), kFirstTurn + 1, {2, 77}));
  EXPECT_THAT(FakeDriver::calls, ElementsAre("hostfunc 100", "memop 100 open>=1.1", "hostfunc 100"));
  EXPECT_EQ(page_.slot[2].gate, 77u);
  EXPECT_EQ(page_.slot[0].rel, kFirstTurn + 1);
}

TEST_F(RelayGateTest, OpensTheGateWhenTheArbiterStandsStill) {
  Join(&page_);
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  Await(&page_.slot[0].hold, kFirstTurn);
  EXPECT_EQ(page_.slot[0].faults, 1u);
}

TEST_F(RelayGateTest, ARefusedWaitWithdrawsTheAsking) {
  Join(&page_);
  FakeDriver::host_functions_run = false;
  FakeDriver::memops_supported = false;
  EXPECT_FALSE(gate_.Acquire(Stream(), kFirstTurn));
  FakeDriver::RunHostFunctions();
  EXPECT_EQ(base::LoadWord(&page_.slot[0].ready), 0u) << "a turn that no client takes";
}

// The request for a turn is under way. If Acquire said that nothing was queued, the turn would be taken
// twice.
TEST_F(RelayGateTest, ARefusedWaitBehindAnAskingLetsTheStreamGoOn) {
  Join(&page_);
  FakeDriver::memops_supported = false;
  page_.slot[0].gate = kFirstTurn;
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  Await(&page_.slot[0].hold, kFirstTurn);
}

TEST_F(RelayGateTest, WhatIsQueuedForOneTurnstileStaysThere) {
  Join(&page_);
  FakeDriver::host_functions_run = false;
  EXPECT_TRUE(gate_.Acquire(Stream(), turn::FirstStretch(9)));
  crossover_page& next = Keep().page;
  Join(&next);
  EXPECT_TRUE(gate_.Acquire(Stream(), kFirstTurn));
  page_.slot[0].gate = turn::FirstStretch(9);
  next.slot[0].gate = kFirstTurn;
  FakeDriver::RunHostFunctions();
  Await(&page_.slot[0].hold, turn::FirstStretch(9));
  Await(&next.slot[0].hold, kFirstTurn);
}

TEST_F(RelayGateTest, MoreTurnsThanCanBeQueuedAreRefused) {
  Join(&page_);
  FakeDriver::host_functions_run = false;
  std::uint32_t turns = 0;
  while (turns < 10'000 && gate_.Acquire(Stream(), turn::FirstStretch(turns + 1))) ++turns;
  EXPECT_EQ(turns, 512u);
  FakeDriver::Clear();
}

TEST_F(RelayGateTest, DriverThatRefusesIsNoGate) {
  FakeDriver::memops_supported = false;
  EXPECT_FALSE(gate_.SetUp(&driver_, &page_, 0));
  FakeDriver::memops_supported = true;
  Driver old = driver_;
  old.MemHostAlloc = nullptr;
  EXPECT_FALSE(gate_.SetUp(&old, &page_, 0));
  old = driver_;
  old.LaunchHostFunc = nullptr;
  EXPECT_FALSE(gate_.SetUp(&old, &page_, 0));
}

// The gate never frees its memory, so each allocation that it forgot would stay pinned.
TEST_F(RelayGateTest, MemoryIsAllocatedOnceAlsoIfTheGpuCannotReachItAtFirst) {
  static int allocations;
  static bool reachable;
  static Driver driver = FakeDriver::Table();
  driver.MemHostAlloc = [](void** memory, std::size_t bytes, unsigned int flags) {
    ++allocations;
    return FakeDriver::Table().MemHostAlloc(memory, bytes, flags);
  };
  driver.MemHostGetDevicePointer = [](CUdeviceptr* on_gpu, void* memory, unsigned int flags) {
    if (!reachable) return CUDA_ERROR_INVALID_VALUE;
    return FakeDriver::Table().MemHostGetDevicePointer(on_gpu, memory, flags);
  };
  EXPECT_FALSE(gate_.SetUp(&driver, &page_, 0));
  EXPECT_FALSE(gate_.SetUp(&driver, &page_, 0));
  EXPECT_EQ(allocations, 1);
  reachable = true;
  EXPECT_TRUE(gate_.SetUp(&driver, &page_, 0));
  EXPECT_EQ(allocations, 1);
}

TEST_F(RelayGateTest, NeedsNoRegisteredMemory) {
  FakeDriver::registration_works = false;
  EXPECT_TRUE(gate_.SetUp(&driver_, &page_, 0));
  EXPECT_THAT(FakeDriver::calls, ::testing::Not(::testing::Contains("unregister")));
}

}  // namespace
}  // namespace crossover::gates
