#include "sidecar/memory/accounting.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

namespace crossover::memory {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kAt = 1ull << 40;  // some address

class AccountingTest : public ::testing::Test {
 protected:
  void Allocate(std::uint64_t address, std::uint64_t bytes, std::int32_t device = 0,
                std::uint64_t context = 0) {
    ASSERT_TRUE(ledger_.Reserve(device, bytes));
    ledger_.Keep(address, device, bytes, context);
  }
  void CreateOf(std::uint64_t handle, std::uint64_t bytes) {
    ASSERT_TRUE(ledger_.Reserve(0, bytes));
    ledger_.Create(handle, 0, bytes);
  }
  Accounting ledger_;
};

// These books cannot be kept, because the process has no address space left.
class NoBooksTest : public AccountingTest {
 protected:
  // Ends the process. Its status is 0 if a first allocation passes or not as `passes` says, and does not
  // count.
  [[noreturn]] void Reserve(bool passes) {
    const rlimit none{1, 1};
    if (::setrlimit(RLIMIT_AS, &none) != 0) std::_Exit(2);
    bool counts = true;
    std::_Exit(ledger_.Reserve(0, kMiB, &counts) == passes && !counts ? 0 : 1);
  }
};

TEST_F(AccountingTest, ALimitIsLoweredAndNeverRaised) {
  ledger_.LowerLimit(0);
  EXPECT_EQ(ledger_.limit(), 0u);
  ledger_.LowerLimit(10 * kMiB);
  ledger_.LowerLimit(20 * kMiB);
  ledger_.LowerLimit(0);
  EXPECT_EQ(ledger_.limit(), 10 * kMiB);
  ledger_.LowerLimit(5 * kMiB);
  EXPECT_FALSE(ledger_.Reserve(0, 6 * kMiB));
}

TEST_F(NoBooksTest, RefuseWhatMayBeOverTheLimit) {
  ledger_.SetLimit(10 * kMiB);
  EXPECT_EXIT(Reserve(false), ::testing::ExitedWithCode(0), "");
}

TEST_F(NoBooksTest, AreNoReasonToRefuseWithoutALimit) {
  EXPECT_EXIT(Reserve(true), ::testing::ExitedWithCode(0), "");
}

TEST_F(NoBooksTest, AreNoReasonToRefuseAMappingEither) {
  const auto map = [this] {
    const rlimit none{1, 1};
    if (::setrlimit(RLIMIT_AS, &none) != 0) std::_Exit(2);
    std::_Exit(ledger_.ReserveMapping() ? 0 : 1);
  };
  EXPECT_EXIT(map(), ::testing::ExitedWithCode(0), "");
}

TEST_F(AccountingTest, TheLimitIsReachedAndNotPassed) {
  ledger_.SetLimit(10 * kMiB);
  Allocate(kAt, 10 * kMiB - 1);
  EXPECT_FALSE(ledger_.Reserve(0, 2));
  EXPECT_TRUE(ledger_.Reserve(0, 1));
  EXPECT_FALSE(ledger_.Reserve(0, 1));
  EXPECT_FALSE(ledger_.Reserve(0, UINT64_MAX)) << "no wrap-around";
  EXPECT_TRUE(ledger_.Reserve(1, 10 * kMiB)) << "of each GPU";
  EXPECT_EQ(ledger_.refused(), 3u);
  ledger_.Return(0, 1);
  EXPECT_EQ(ledger_.used(0), 10 * kMiB - 1);
  EXPECT_EQ(ledger_.peak(0), 10 * kMiB);
}

TEST_F(AccountingTest, AnAddressThatIsBeingFreedCountsUntilItIs) {
  Allocate(kAt, kMiB);
  Record record;
  ASSERT_TRUE(ledger_.Forget(kAt, &record));
  EXPECT_EQ(ledger_.used(0), kMiB);
  Allocate(kAt, 3 * kMiB);  // the driver has given it out again already
  ledger_.Return(record.device, record.bytes);
  EXPECT_EQ(ledger_.used(0), 3 * kMiB);
  EXPECT_FALSE(ledger_.Forget(kAt + 1, &record)) << "not ours: another process's, or from before";
}

TEST_F(AccountingTest, PhysicalMemoryLivesWithItsLastMapping) {
  CreateOf(7, 4 * kMiB);
  ledger_.Map(kAt, 4 * kMiB, 7);
  ledger_.Release(7);
  EXPECT_EQ(ledger_.used(0), 4 * kMiB);
  ledger_.Unmap(kAt, 4 * kMiB);
  EXPECT_EQ(ledger_.used(0), 0u);
}

TEST_F(AccountingTest, PhysicalMemoryLivesWithItsLastHandle) {
  CreateOf(7, 4 * kMiB);
  ledger_.Map(kAt, 4 * kMiB, 7);
  ledger_.Retain(7, kAt);
  ledger_.Unmap(kAt, 4 * kMiB);
  ledger_.Release(7);
  EXPECT_EQ(ledger_.used(0), 4 * kMiB);
  ledger_.Release(7);
  EXPECT_EQ(ledger_.used(0), 0u);
  ledger_.Release(7);
  EXPECT_EQ(ledger_.used(0), 0u) << "the driver refuses that one";
}

TEST_F(AccountingTest, AHandleNumberThatComesBackIsAnotherAllocation) {
  CreateOf(0, kMiB);
  ledger_.Map(kAt, kMiB, 0);
  ledger_.Release(0);
  CreateOf(0, 2 * kMiB);
  ledger_.Unmap(kAt, kMiB);
  EXPECT_EQ(ledger_.used(0), 2 * kMiB);
  ledger_.Release(0);
  EXPECT_EQ(ledger_.used(0), 0u);
}

TEST_F(AccountingTest, AReleasedHandleComesBackUnderAnotherNumber) {
  CreateOf(7, kMiB);
  ledger_.Map(kAt, kMiB, 7);
  ledger_.Release(7);
  ledger_.Retain(8, kAt + 4096);
  ledger_.Unmap(kAt, kMiB);
  EXPECT_EQ(ledger_.used(0), kMiB);
  ledger_.Release(8);
  EXPECT_EQ(ledger_.used(0), 0u);
}

TEST_F(AccountingTest, OneUnmapMayEndSeveralMappings) {
  CreateOf(1, kMiB);
  CreateOf(2, 2 * kMiB);
  ledger_.Map(kAt, kMiB, 1);
  ledger_.Map(kAt + kMiB, kMiB, 99);  // imported from another process: not counted
  ledger_.Map(kAt + 2 * kMiB, 2 * kMiB, 2);
  ledger_.Release(1);
  ledger_.Release(2);
  EXPECT_EQ(ledger_.used(0), 3 * kMiB);
  ledger_.Unmap(kAt, 4 * kMiB);
  EXPECT_EQ(ledger_.used(0), 0u);
}

TEST_F(AccountingTest, AResetDeviceHasNothing) {
  Allocate(kAt, kMiB);
  Allocate(kAt + kMiB, kMiB, 1);
  ledger_.Reset(0);
  EXPECT_EQ(ledger_.used(0), 0u);
  EXPECT_EQ(ledger_.used(1), kMiB);
  EXPECT_EQ(ledger_.used_everywhere(), kMiB);
}

TEST_F(AccountingTest, AnEndedContextHasNothing) {
  Allocate(kAt, kMiB, 0, 77);
  Allocate(kAt + kMiB, kMiB, 0, 78);
  Allocate(kAt + 2 * kMiB, kMiB);  // from a pool, which outlives the context
  ledger_.End(77);
  EXPECT_EQ(ledger_.used(0), 2 * kMiB);
  Record record;
  EXPECT_FALSE(ledger_.Forget(kAt, &record));
  ledger_.End(0);
  EXPECT_EQ(ledger_.used(0), 2 * kMiB);
}

TEST_F(AccountingTest, UnknownDevicesAreNotCounted) {
  EXPECT_TRUE(ledger_.Reserve(-1, UINT64_MAX));
  ledger_.Keep(kAt, -1, kMiB, 0);
  ledger_.Return(kMostDevices, kMiB);
  EXPECT_EQ(ledger_.used(-1), 0u);
}

TEST_F(AccountingTest, ThreadsNeverPassTheLimitTogether) {
  constexpr std::uint64_t kLimit = 64;
  ledger_.SetLimit(kLimit);
  std::atomic<std::uint64_t> held{0};
  std::atomic<bool> passed{false};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        const std::uint64_t bytes = 1 + (i * 7 + t) % 30;
        if (!ledger_.Reserve(0, bytes)) continue;
        if (held.fetch_add(bytes) + bytes > kLimit) passed = true;
        const std::uint64_t address = kAt + t;
        ledger_.Keep(address, 0, bytes, 0);
        Record record;
        if (!ledger_.Forget(address, &record) || record.bytes != bytes) passed = true;
        held.fetch_sub(bytes);
        ledger_.Return(0, bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(passed);
  EXPECT_EQ(ledger_.used(0), 0u);
}

}  // namespace
}  // namespace crossover::memory
