#include "sidecar/memory/limit_question.h"

#include <gtest/gtest.h>

namespace crossover::memory {
namespace {

using Turn = LimitQuestion::Turn;
constexpr std::int64_t kStart = 1000 * base::kNsPerSecond;

TEST(LimitQuestionTest, IsPutUntilItIsAnswered) {
  LimitQuestion question;
  EXPECT_FALSE(question.closed());
  EXPECT_EQ(question.Look(kStart), Turn::kAsk);
  question.Close();
  EXPECT_TRUE(question.closed());
  EXPECT_EQ(question.Look(kStart + LimitQuestion::kSeldom), Turn::kGo);
}

TEST(LimitQuestionTest, WithoutAnAnswerALaterAllocationPutsItAgain) {
  LimitQuestion question;
  ASSERT_EQ(question.Look(kStart), Turn::kAsk);
  EXPECT_FALSE(question.OnNoAnswer(kStart + base::kNsPerMs));
  EXPECT_FALSE(question.closed());
  EXPECT_EQ(question.Look(kStart + 2 * base::kNsPerMs), Turn::kGo) << "not so soon";
  EXPECT_EQ(question.Look(kStart + LimitQuestion::kOften - 1), Turn::kGo);
  EXPECT_EQ(question.Look(kStart + LimitQuestion::kOften), Turn::kAsk);
}

TEST(LimitQuestionTest, OtherThreadsWaitForTheAnswerAndNotForLongerThanItTakes) {
  LimitQuestion question;
  ASSERT_EQ(question.Look(kStart), Turn::kAsk);
  EXPECT_EQ(question.Look(kStart + 1), Turn::kWait);
  EXPECT_EQ(question.Look(kStart + LimitQuestion::kAnswerTime), Turn::kGo)
      << "the thread that asked may be in the parent of this process";
  EXPECT_EQ(question.Look(kStart + LimitQuestion::kOften), Turn::kAsk);
}

TEST(LimitQuestionTest, IsToldOnceWhenItHasHadNoAnswerForTwoSecondsAndIsThenPutMoreSeldom) {
  LimitQuestion question;
  int told = 0;
  int put = 0;
  std::int64_t last_pause = 0;
  std::int64_t last = kStart;
  for (std::int64_t now = kStart; now < kStart + 10 * LimitQuestion::kSeldom; now += 10 * base::kNsPerMs) {
    if (question.Look(now) != Turn::kAsk) continue;
    ++put;
    last_pause = now - last;
    last = now;
    if (!question.OnNoAnswer(now)) continue;
    ++told;
    EXPECT_EQ(now, kStart + LimitQuestion::kPatience);
  }
  EXPECT_EQ(told, 1);
  EXPECT_EQ(last_pause, LimitQuestion::kSeldom);
  EXPECT_LT(put, 25);
}

}  // namespace
}  // namespace crossover::memory
