#include "cli/options/between.h"

#include <gtest/gtest.h>

namespace crossover::cli {
namespace {

TEST(BetweenTest, TakesFiniteNumbersOfTheRange) {
  const CLI::Validator check = Between(0.1, 3600);
  for (const std::string text : {"0.1", "3600", "1e3", "7"}) EXPECT_EQ(check(text), "") << text;
  for (const std::string text : {"nan", "NAN", "-nan", "inf", "-inf", "0.09", "3601", "1e999", "x", "1x"})
    EXPECT_EQ(check(text), "expected a number from 0.1 to 3600, got " + text);
  EXPECT_EQ(check(std::string()), "expected a number from 0.1 to 3600, got \"\"");
}

}  // namespace
}  // namespace crossover::cli
