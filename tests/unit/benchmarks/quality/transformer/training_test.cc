#include "benchmarks/quality/transformer/training.h"

#include <gtest/gtest.h>

namespace crossover::transformer {
namespace {

using reductions::Reduction;

TEST(TrainingTest, ItLearnsAndRepeatsItself) {
  const Outcome one = Train({.iterations = 60}), again = Train({.iterations = 60});
  EXPECT_TRUE(one.equal);
  EXPECT_EQ(one.loss, again.loss);
  EXPECT_LT(one.loss, 0.9 * one.first_loss);
  EXPECT_NE(Train({.seed = 2, .iterations = 60}).loss, one.loss);
}

TEST(TrainingTest, AllRanksEndEqualWithEachReduction) {
  for (const Reduction reduction :
       {Reduction::kBf16, Reduction::kQ8, Reduction::kAdaptive, Reduction::kTopK, Reduction::kAdasum}) {
    const Outcome found = Train({.reduction = reduction, .iterations = 10});
    EXPECT_TRUE(found.equal) << Name(reduction);
    EXPECT_LT(found.loss, found.first_loss) << Name(reduction);
  }
}

}  // namespace
}  // namespace crossover::transformer
