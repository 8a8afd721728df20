// Tests the measures of the figure shrink_bits on codecs whose error is known without them.
#include "benchmarks/shrink_bits/measures.h"

#include <gtest/gtest.h>

#include "benchmarks/shrink_bits/sums.h"
#include "shrink/codec/bf16.h"

namespace crossover::shrink_bits {
namespace {

Floats Exact(const Floats& values, const Format&, const Draw&) { return values; }
Floats Zeros(const Floats& values, const Format&, const Draw&) { return Floats(values.size(), 0.0F); }

TEST(ShrinkBitsTest, ACodecWithoutErrorHasNone) {
  EXPECT_LT(Bias(Exact), 1e-6);  // it is the mean of equal floats, in double
  EXPECT_EQ(OverBound(Exact), 0);
  EXPECT_EQ(BesideOutlier(Exact), 0);
  EXPECT_EQ(Unscaled(Exact), 0);
  EXPECT_EQ(ConstantChanged(Exact), 0);
  EXPECT_EQ(BeyondStep(Exact), 0);
  EXPECT_EQ(OffTable(Exact), 1);  // it is not that of the table
  EXPECT_EQ(OffSixth(Exact), 1);
}

TEST(ShrinkBitsTest, ACodecThatReturnsZerosIsSeen) {
  EXPECT_GT(Bias(Zeros), 1);
  EXPECT_GT(OffTable(Zeros), 10);
  EXPECT_EQ(BesideOutlier(Zeros), 1);
  EXPECT_EQ(FiniteAmiss(Zeros), 5 * 3 * 100);  // all elements of each bucket with something not finite
  EXPECT_GT(OtherBits(Zeros), 0);
}

TEST(ShrinkBitsTest, TheThreadsHaveTheBitsOfTheCodec) {
  EXPECT_EQ(OtherBits(Shipped), 0);
  EXPECT_EQ(OtherBits(ByThreads), 0);
}

TEST(ShrinkBitsTest, ABadCodecIsGoodInWhatItDoesNotChange) {
  EXPECT_LT(BesideOutlier(Nearest), 0.03);
  EXPECT_EQ(FiniteAmiss(SmallestStep), 0);
  EXPECT_LT(OffTable(LeavesRestOut), 0.1);
  EXPECT_EQ(Unscaled(SameNumbers), 0);
}

shrink::Buffers Untouched(const shrink::Buffers& buffers, const shrink::Topology&, const Format&) {
  return buffers;
}

TEST(ShrinkBitsTest, RanksThatDoNotExchangeAreSeen) {
  EXPECT_GT(SumError(Untouched), 0.4);
  EXPECT_GT(UnequalRanks(Untouched), 1000);
  EXPECT_EQ(UnequalRanks(RingOfCodes), 0);
}

std::uint16_t Zero(float) { return 0; }

TEST(ShrinkBitsTest, AnotherRoundingToBf16IsSeen) {
  EXPECT_EQ(NotNearest(shrink::ToBf16), 0);
  EXPECT_GT(NotNearest(Zero), 1 << 19);
  EXPECT_EQ(RingError(Zero), 1);
}

}  // namespace
}  // namespace crossover::shrink_bits
