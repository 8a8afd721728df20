// Tests the list of a dry run.
#include "shrink/library/advice.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <tuple>

namespace crossover::shrink::library {
namespace {

Kind KindOf(std::size_t count, Function function = Function::kAllReduce) {
  const Call call{function, kFloat32, kSum, count};
  return {1, call, WhyNot(call)};
}

std::string Written(Advice& advice, const char* refused = "") {
  const std::string path = testing::TempDir() + "shrink_advice_test.json";
  vote::Reason reason;
  std::snprintf(reason.text, sizeof reason.text, "%s", refused);
  advice.Write(path.c_str(), reason);
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
      "\"count\": 100000, \"calls\": 3, \"verdict\": \"would be narrowed\", \"samples\": 0, "
      "\"samples_unfinished\": 0, \"no_error\": \"expected its calls on the first GPU of the process, and at "
      "most 64 kinds of calls, got others\"}\n], \"calls_of_other_kinds\": 0}\n");
}

// Takes one sample, whose kernel ends with these sums in each of its blocks, or does not end.
void TakeSample(const Noted& noted, ErrorParts& parts, const ErrorSums* sums) {
  ASSERT_NE(noted.account, nullptr);
  const std::uint64_t mark = noted.account->Begin(noted.call, [&] { return &parts; });
  ASSERT_NE(mark, 0U);
  noted.account->Launched();
  if (sums == nullptr) return;
  for (ErrorPart& part : parts) part = {*sums, mark};
}

TEST(AdviceTest, AKindHasTheErrorsOfItsSamples) {
  const auto advice = std::make_unique<Advice>();
  ErrorParts parts{};
  const ErrorSums one{3, 12.5, 1e6, 0}, other{1, 7.5, 1e6, 1};
  TakeSample(advice->Note(KindOf(100'000)), parts, &one);
  TakeSample(advice->Note(KindOf(100'000)), parts, &other);
  const std::string text = Written(*advice, "a refusal counts for kinds without samples");
  EXPECT_NE(text.find("\"samples\": 2, \"samples_unfinished\": 0, \"bf16_error\": 2.000e-06, \"q8_error\": "
                      "1.000e-05, \"buckets_not_finite\": 64}"),
            std::string::npos)
      << text;
}

TEST(AdviceTest, WithoutAnErrorItSaysWhy) {
  const ErrorSums none{0, 0, 0, 196}, infinite{std::numeric_limits<double>::infinity(), 0, 1, 0};
  for (const auto& [sums, refused, expected] :
       {std::tuple{&none, "", "\"no_error\": \"expected finite values, got none\"}"},
        std::tuple{static_cast<const ErrorSums*>(nullptr), "",
                   "\"no_error\": \"its first sample was not done at the end\"}"},
        std::tuple{&infinite, "", "\"bf16_error\": null, \"q8_error\": 0.000e+00"}}) {
    const auto advice = std::make_unique<Advice>();
    ErrorParts parts{};
    TakeSample(advice->Note(KindOf(100'000)), parts, sums);
    const std::string text = Written(*advice, refused);
    EXPECT_NE(text.find(expected), std::string::npos) << text;
  }
  const auto advice = std::make_unique<Advice>();
  advice->Note(KindOf(100'000));
  advice->Note(KindOf(1));
  const std::string text = Written(*advice, "image: \"odd\"");
  EXPECT_NE(text.find("\"no_error\": \"image: ?odd?\"}"), std::string::npos) << text;
  EXPECT_NE(text.find("\"plain: fewer than 65536 elements\"}"), std::string::npos) << text;
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
