#include "common/kube/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace crossover::kube {
namespace {

TEST(QuantityTest, AsKubernetesWritesThem) {
  EXPECT_EQ(ParseQuantity("2", 1000), 2000);
  EXPECT_EQ(ParseQuantity("500m", 1000), 500);
  EXPECT_EQ(ParseQuantity("0.1", 1000), 100) << "what binary fractions lose is not rounded up";
  EXPECT_EQ(ParseQuantity("1.5Gi"), 3LL << 29);
  EXPECT_EQ(ParseQuantity("128974848000m"), 128974848);
  EXPECT_EQ(ParseQuantity("1e3"), 1000);
  EXPECT_EQ(ParseQuantity("1E3"), 1000);
  EXPECT_EQ(ParseQuantity("1E"), 1'000'000'000'000'000'000);
  EXPECT_EQ(ParseQuantity("12e-1"), 2) << "up, as a scheduler rounds";
  EXPECT_EQ(ParseQuantity("100n", 1000), 1);
  EXPECT_EQ(ParseQuantity("0"), 0);
  EXPECT_EQ(QuantityOf(4, 1000), 4000);
  EXPECT_EQ(QuantityOf("4Mi"), 4 << 20);
}

TEST(QuantityTest, WhatIsTooMuchIsTheMost) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ParseQuantity("99999999999999999999999999"), kMost);
  EXPECT_EQ(ParseQuantity("1e99999"), kMost);
  EXPECT_EQ(ParseQuantity("9Ei", 1000), kMost);
}

TEST(QuantityTest, WhatIsNone) {
  for (const char* text : {"", "m", "-1", "1 Gi", "1gi", "0x10", "1..2", "1e", "1e+", "nan", "inf", "1.2.3"})
    EXPECT_FALSE(ParseQuantity(text)) << text;
  EXPECT_EQ(QuantityOf(nullptr), 0);
  EXPECT_EQ(QuantityOf(-3), 0);
  EXPECT_FALSE(ParseQuantity(std::string(1000, '1')));
}

TEST(QuantityTest, ACountIsWhole) {
  EXPECT_EQ(CountOf("0"), 0);
  EXPECT_EQ(CountOf("12"), 12);
  EXPECT_EQ(CountOf(12), 12);
  EXPECT_EQ(CountOf("1k"), 1000) << "as an API server writes 1000";
  EXPECT_EQ(CountOf("2000m"), 2);
  EXPECT_EQ(CountOf("9P"), 9'000'000'000'000'000);
  using nlohmann::json;
  for (const json& none :
       {json("500m"), json("1.2"), json(1.5), json("1000000001n"), json("-1"), json(-1), json("many"),
        json(""), json(), json(true), json::array(), json("10P"), json("99999999999999999999")})
    EXPECT_FALSE(CountOf(none)) << none;
}

}  // namespace
}  // namespace crossover::kube
