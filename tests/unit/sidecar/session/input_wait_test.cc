#include "sidecar/session/input_wait.h"

#include <gtest/gtest.h>

namespace crossover::session::test {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Lets iterations wait for input, one after the other.
class InputWaitTest : public ::testing::Test {
 protected:
  void Iterate(int count, std::int64_t wait_ms) {
    for (int i = 0; i < count; ++i) {
      wait_.SeeIteration(iteration_++);
      now_ += 20 * kMs;
      if (wait_ms > 0) wait_.Begin(now_);
      now_ += wait_ms * kMs;
      wait_.End(now_);
      wait_.SeeIteration(iteration_ - 1);  // the other turn of the iteration
    }
  }

  InputWait wait_;
  std::int64_t now_ = kMs;
  std::uint32_t iteration_ = 0xfffffffa;  // wraps
};

TEST_F(InputWaitTest, TheMeanOfTheLastIterations) {
  Iterate(4, 15);
  EXPECT_EQ(wait_.usual_us(), std::nullopt) << "three are known, which is too few";
  Iterate(1, 15);
  EXPECT_EQ(wait_.usual_us(), 15'000u);
  Iterate(100, 5);
  EXPECT_EQ(wait_.usual_us(), 5000u);
}

TEST_F(InputWaitTest, AJobWhoseInputIsThereInTimeWaitsForNothing) {
  Iterate(100, 0);
  EXPECT_EQ(wait_.usual_us(), 0u);
}

TEST_F(InputWaitTest, AWaitBeginsOnce) {
  Iterate(20, 15);
  for (int i = 0; i < 20; ++i) {
    wait_.Begin(now_ + kMs);
    now_ += 5 * kMs;
    Iterate(1, 15);
  }
  EXPECT_EQ(wait_.usual_us(), 39'000u) << "from 1 ms behind the last iteration on";
}

TEST_F(InputWaitTest, OneLongPauseIsNoInput) {
  Iterate(40, 15);
  Iterate(1, 5000);
  Iterate(10, 15);
  EXPECT_EQ(wait_.usual_us(), 15'000u);
}

TEST_F(InputWaitTest, WaitsOfSomeIterationsCountForAll) {
  for (int i = 0; i < 20; ++i) {
    Iterate(3, 0);
    Iterate(1, 60);
  }
  EXPECT_EQ(wait_.usual_us(), 60'000u * 3 / 15) << "one of four waits does not count";
}

TEST_F(InputWaitTest, IterationsWithoutTurnsAreNotKnown) {
  Iterate(40, 15);
  iteration_ += 1000;
  now_ += 1000 * kMs;
  wait_.Begin(now_);
  Iterate(4, 15);
  EXPECT_EQ(wait_.usual_us(), 15'000u);
}

TEST_F(InputWaitTest, ForgetsEverything) {
  Iterate(40, 15);
  wait_.Begin(now_);
  wait_.Forget();
  EXPECT_FALSE(wait_.waits());
  EXPECT_EQ(wait_.usual_us(), std::nullopt);
}

}  // namespace
}  // namespace crossover::session::test
