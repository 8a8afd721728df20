// Tests the list of a dry run.
#include "shrink/library/advice.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>

namespace crossover::shrink::library {
namespace {

Kind KindOf(std::size_t count, Function function = Function::kAllReduce) {
  const Call call{function, kFloat32, kSum, count};
  return {1, call, WhyNot(call)};
}

std::string Written(const Advice& advice) {
  const std::string path = testing::TempDir() + "shrink_advice_test.json";
  advice.Write(path.c_str());
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  return text.str();
}

TEST(AdviceTest, EqualCallsAreCountedTogether) {
  const auto advice = std::make_unique<Advice>();
  for (int i = 0; i < 3; ++i) advice->Note(KindOf(100'000));
  EXPECT_EQ(
      Written(*advice),
      "{\"kinds\": [\n{\"communicator\": 1, \"function\": \"all_reduce\", \"type\": 7, \"operator\": 0, "
      "\"count\": 100000, \"calls\": 3, \"verdict\": \"would be narrowed\"}\n], \"calls_of_other_kinds\": "
      "0}\n");
}

TEST(AdviceTest, EachDifferenceIsAKind) {
  const auto advice = std::make_unique<Advice>();
  Kind other = KindOf(100'000);
  other.communicator = 2;
  for (const Kind& kind : {KindOf(100'000), other, KindOf(1), KindOf(100'000, Function::kReduce)})
    advice->Note(kind);
  const std::string text = Written(*advice);
  EXPECT_NE(text.find("fewer than 65536 elements"), std::string::npos) << text;
  EXPECT_NE(text.find("not an all-reduce"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
}

TEST(AdviceTest, WhatDoesNotFitIsCounted) {
  const auto advice = std::make_unique<Advice>();
  for (std::size_t count = 0; count < Advice::kMost + 5; ++count) advice->Note(KindOf(count));
  EXPECT_NE(Written(*advice).find("\"calls_of_other_kinds\": 5}"), std::string::npos);
}

TEST(AdviceTest, NoCallsLeaveNoFile) { EXPECT_EQ(Written(*std::make_unique<Advice>()), ""); }

}  // namespace
}  // namespace crossover::shrink::library
