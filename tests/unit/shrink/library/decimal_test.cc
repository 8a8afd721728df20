// Tests how numbers are written.
#include "shrink/library/decimal.h"

#include <gtest/gtest.h>

#include <limits>

namespace crossover::shrink::library {
namespace {

std::string Printed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3e", value);
  return text;
}

TEST(DecimalTest, NumbersAreThoseOfPrintf) {
  for (const double value :
       {0.0, 1.0, 9.9994, 9.9996, 10.0, 0.1, 2.8e-6, 1.0e-4, 1.2346e-5, 123456.0, 3e-120, 7e99})
    EXPECT_EQ(InJson(value).text, Printed(value));
}

TEST(DecimalTest, WhatIsNotFiniteIsAWord) {
  EXPECT_STREQ(InWords(std::numeric_limits<double>::infinity()).text, "infinite");
  EXPECT_STREQ(InJson(std::numeric_limits<double>::infinity()).text, "null");
  EXPECT_STREQ(InJson(std::numeric_limits<double>::quiet_NaN()).text, "null");
}

}  // namespace
}  // namespace crossover::shrink::library
