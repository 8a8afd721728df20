#include "common/base/hash.h"

#include <gtest/gtest.h>

namespace crossover::base {
namespace {

TEST(HashTest, IsFnv1a) {  // the function's published test vectors
  EXPECT_STREQ(HexOf(Hash("")).data(), "cbf29ce484222325");
  EXPECT_STREQ(HexOf(Hash("a")).data(), "af63dc4c8601ec8c");
  EXPECT_STREQ(HexOf(Hash("foobar")).data(), "85944171f73967e8");
}

TEST(HashTest, SmallNumbersHaveAllTheirDigits) { EXPECT_STREQ(HexOf(0x2a).data(), "000000000000002a"); }

}  // namespace
}  // namespace crossover::base
