// Tests which report of its calls a job makes.
#include "sidecar/phase/calls.h"

#include <gtest/gtest.h>

#include <vector>

namespace crossover::phase {
namespace {

constexpr Group kAll{.id = 7, .ranks = 4, .rank = 1};
constexpr Group kPair{.id = 8, .ranks = 2, .rank = 0};
constexpr Call kReduce{CROSSOVER_ALL_REDUCE, CROSSOVER_NO_PEER, 1000};
constexpr Call kSend{CROSSOVER_SEND, 1, 64};

// Returns the calls of all messages that are left of the report.
std::vector<crossover_call> Sent(Calls* calls) {
  std::vector<crossover_call> sent;
  crossover_calls message{};
  while (calls->NextMessage(&message)) {
    EXPECT_EQ(message.first, sent.size());
    sent.insert(sent.end(), message.call, message.call + message.count);
  }
  EXPECT_EQ(message.total, sent.size());
  return sent;
}

void Periods(Calls* calls, std::uint64_t count, std::uint64_t bytes = 1000) {
  for (std::uint64_t i = 0; i < count; ++i) {
    calls->Count(kAll, {CROSSOVER_ALL_REDUCE, CROSSOVER_NO_PEER, bytes}, 3);
    calls->Count(kPair, kSend, 3);
    calls->Count(kAll, kReduce, 3);
  }
}

TEST(CallsTest, AReportHasTheSumsOfOnePeriod) {
  Calls calls;
  Periods(&calls, 7);
  EXPECT_TRUE(Sent(&calls).empty()) << "not sure yet";
  Periods(&calls, 1);
  const auto sent = Sent(&calls);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].communicator, 7u);
  EXPECT_EQ(sent[0].ranks, 4u);
  EXPECT_EQ(sent[0].rank, 1u);
  EXPECT_EQ(sent[0].function, CROSSOVER_ALL_REDUCE);
  EXPECT_EQ(sent[0].peer, CROSSOVER_NO_PEER);
  EXPECT_EQ(sent[0].bytes, 2000u) << "both calls of the period";
  EXPECT_EQ(sent[1].function, CROSSOVER_SEND);
  EXPECT_EQ(sent[1].peer, 1u);
  EXPECT_EQ(sent[1].bytes, 64u);
  EXPECT_TRUE(Sent(&calls).empty()) << "once";
}

TEST(CallsTest, AnotherPeriodBeginsAnew) {
  Calls calls;
  for (std::uint64_t i = 0; i < Calls::kSure - 1; ++i) calls.Count(kAll, kReduce, 1);
  for (std::uint64_t i = 0; i < Calls::kSure; ++i) {
    EXPECT_TRUE(Sent(&calls).empty());
    calls.Count(kAll, kReduce, 2);
    calls.Count(kPair, kSend, 2);
  }
  EXPECT_EQ(Sent(&calls).size(), 2u);
}

TEST(CallsTest, WhatStaysTheSameIsNotSentAgain) {
  Calls calls;
  Periods(&calls, 2 * Calls::kSure);
  EXPECT_EQ(Sent(&calls).size(), 2u);
  Periods(&calls, 2 * Calls::kSure);
  EXPECT_TRUE(Sent(&calls).empty());
  calls.Resend();
  EXPECT_EQ(Sent(&calls).size(), 2u) << "to another arbiter";
}

TEST(CallsTest, APeriodThatHasChangedIsSentAnew) {
  Calls calls;
  Periods(&calls, Calls::kSure);
  Sent(&calls);
  calls.Forget();
  Periods(&calls, Calls::kSure, 1090);
  EXPECT_TRUE(Sent(&calls).empty()) << "of 2000 bytes, 4.5% more are no change";
  calls.Forget();
  Periods(&calls, Calls::kSure - 1, 2000);
  EXPECT_TRUE(Sent(&calls).empty()) << "it begins anew";
  Periods(&calls, 1, 2000);
  EXPECT_EQ(Sent(&calls)[0].bytes, 3000u);
}

TEST(CallsTest, ASumThatHasChangedByMoreThanATwentiethIsSentAnew) {
  Calls calls;
  Periods(&calls, Calls::kSure);
  Sent(&calls);
  calls.Forget();
  Periods(&calls, Calls::kSure, 1120);
  EXPECT_EQ(Sent(&calls)[0].bytes, 2120u);
}

TEST(CallsTest, WhatHasNoNumberIsLeftOut) {
  Calls calls;
  for (std::uint64_t i = 0; i < Calls::kSure; ++i) {
    calls.Count({.id = 0, .ranks = 4, .rank = 1}, kReduce, 3);
    calls.Count(kAll, {}, 3);
    calls.Count(kAll, kReduce, 3);
  }
  const auto sent = Sent(&calls);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].bytes, 1000u);
}

TEST(CallsTest, TooManyAreNotReportedInPart) {
  Calls calls;
  for (std::uint64_t i = 0; i < Calls::kSure; ++i) {
    for (std::uint32_t peer = 0; peer <= Calls::kMost; ++peer)
      calls.Count({.id = 9, .ranks = 64, .rank = 63}, {CROSSOVER_SEND, peer, 1}, Calls::kMost + 1);
  }
  EXPECT_TRUE(Sent(&calls).empty());
  calls.Forget();
  for (std::uint64_t i = 0; i < Calls::kSure; ++i) {
    for (std::uint32_t peer = 0; peer < Calls::kMost; ++peer)
      calls.Count({.id = 9, .ranks = 64, .rank = 63}, {CROSSOVER_SEND, peer, 1}, Calls::kMost);
  }
  EXPECT_EQ(Sent(&calls).size(), Calls::kMost);
}

}  // namespace
}  // namespace crossover::phase
