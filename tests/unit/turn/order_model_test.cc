#include "tests/unit/turn/order_model.h"

#include <gtest/gtest.h>

#include <random>

namespace crossover::turn::test {
namespace {

int Healed(OrderModelOptions options) {
  const JobModelResult result = RunOrderModel(options);
  const JobModelResult reference = RunOrderModel(ReferenceOf(options));
  EXPECT_EQ(result.overlaps, 0);
  return IterationsUntil(result, reference, 0.95, 5);
}

TEST(OrderModel, LeavesTheTrapWithoutJitter) {
  for (int gpus : {4, 8, 32, 128}) {
    EXPECT_LE(Healed({.gpus = gpus, .start_trapped = true, .iterations = 30}), 10) << gpus << " GPUs";
  }
}

TEST(OrderModel, LeavesTheTrapWhenCommunicationIsAsLongAsCompute) {
  EXPECT_LE(Healed({.gpus = 32, .communicate = 20'000'000, .start_trapped = true, .iterations = 30}), 10);
}

TEST(OrderModel, RandomStartsWithJitter) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto offset = static_cast<Time>(random() % 40'000'000);
    EXPECT_LE(
        Healed({.gpus = 8, .jitter = 0.05, .second_job_starts = offset, .iterations = 30, .seed = seed}), 10)
        << "offset " << offset << " ns";
  }
}

// The control shows that the same trap lasts without the tie rule.
TEST(OrderModelControl, WithoutTheTieRuleTheTrapLasts) {
  const OrderModelOptions options{.gpus = 32, .start_trapped = true, .tie_rule = false, .iterations = 110};
  EXPECT_GT(Healed(options), 100);
}

TEST(OrderModel, TheTurnNeverRestsLongWhileAClientWaits) {
  const JobModelResult result = RunOrderModel({.gpus = 8, .jitter = 0.05, .iterations = 60});
  const double gpu_time = 8.0 * 60 * 40e6;
  EXPECT_LT(static_cast<double>(result.stats.rest_while_ready), 0.01 * gpu_time);
}

}  // namespace
}  // namespace crossover::turn::test
