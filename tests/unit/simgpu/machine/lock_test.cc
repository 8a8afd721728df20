#include "simgpu/machine/lock.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace simgpu {
namespace {

class FakeCoroner final : public Coroner {
 public:
  bool IsDead(std::uint32_t token) override { return dead.count(token) != 0; }
  std::set<std::uint32_t> dead;
};

TEST(SharedLockTest, ExcludesThreads) {
  FakeCoroner coroner;
  std::uint32_t word = 0;
  long count = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t token = 1; token <= 4; ++token) {
    threads.emplace_back([&, token] {
      for (int i = 0; i < 20000; ++i) {
        EXPECT_FALSE(LockShared(&word, token, &coroner));
        ++count;
        UnlockShared(&word);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 80000);
  EXPECT_EQ(word, 0u);
}

TEST(SharedLockTest, IsTakenOverFromTheDead) {
  FakeCoroner coroner;
  coroner.dead.insert(5);
  std::uint32_t word = 5;
  EXPECT_TRUE(LockShared(&word, 6, &coroner));
  UnlockShared(&word);
  EXPECT_EQ(word, 0u);
}

}  // namespace
}  // namespace simgpu
