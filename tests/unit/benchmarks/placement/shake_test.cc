#include "benchmarks/placement/shake.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "benchmarks/placement/traces/read.h"

namespace crossover::benchmarks {
namespace {

TEST(ShakeTest, JobsComeUpToADayLaterAndAreUpToTwoPercentLongerOrShorter) {
  const std::vector<Job> before = ReadTrace({.path = TRACE}).jobs;
  std::vector<Job> after = before;
  Shake(after, 1);
  ASSERT_EQ(after.size(), before.size());
  EXPECT_TRUE(std::ranges::is_sorted(after, {}, &Job::submit_s));
  for (const Job& job : after) {
    const Job& was = *std::ranges::find(before, job.id, &Job::id);
    EXPECT_GT(job.submit_s, was.submit_s);
    EXPECT_LT(job.submit_s, was.submit_s + 86'400);
    EXPECT_NE(job.iterations, was.iterations);
    EXPECT_NEAR(job.iterations, was.iterations, 0.02 * was.iterations);
    EXPECT_EQ(job.iteration_s, was.iteration_s);
  }
}

TEST(ShakeTest, GoesByItsSeedAlone) {
  const std::vector<Job> before = ReadTrace({.path = TRACE}).jobs;
  std::vector<Job> one = before, again = before, other = before;
  Shake(one, 1);
  Shake(again, 1);
  Shake(other, 2);
  EXPECT_EQ(one.front().submit_s, again.front().submit_s);
  EXPECT_NE(one.front().submit_s, other.front().submit_s);
}

}  // namespace
}  // namespace crossover::benchmarks
