#include "turn/guard.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/turn/job_model.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

// Two jobs of 20 ms alone, whose steps depend on how they share, and nobody else's turns.
class GuardTest : public ::testing::Test {
 protected:
  struct Steps {
    Time by_turns, side_by_side;
  };
  // Runs until `iterations` of the first job are done.
  void Run(const Steps& steps, std::uint32_t iterations) {
    while (jobs_[0].iteration < iterations) {
      const Guard::Plan plan = guard_.Advance(jobs_, now_);
      tried_ |= plan.way == Way::kSideBySide;
      now_ += kMs / 2;
      if (guard_.settled() != Way::kExclusive && plan.way == Way::kExclusive) solo_ += kMs / 2;
      for (std::size_t i = 0; i < 2; ++i) {
        Time step = plan.way == Way::kTurns ? steps.by_turns : steps.side_by_side;
        EXPECT_TRUE(exclusive_ || plan.way != Way::kExclusive);
        if (plan.way == Way::kExclusive) step = plan.owner == jobs_[i].slot ? kAlone : kNever;
        if (step == kNever) {
          // A host that runs ahead counts one more, some time after its turn to be alone.
          kept_waiting_[i] += kMs / 2;
          if (runs_ahead_ && kept_waiting_[i] == 3 * kAlone)
            jobs_[i].iteration = static_cast<std::uint32_t>(++done_[i]);
          continue;
        }
        kept_waiting_[i] = 0;
        done_[i] += static_cast<double>(kMs / 2) / static_cast<double>(step);
        jobs_[i].iteration = static_cast<std::uint32_t>(done_[i]);
      }
    }
  }
  static constexpr Time kAlone = 20 * kMs;
  Guard guard_;
  std::array<Guard::Job, 2> jobs_ = {{{3, 0, 22 * kMs}, {1, 0, 22 * kMs}}};
  double done_[2] = {0, 0.5};
  Time now_ = 0;
  bool tried_ = false;
  Time solo_ = 0;  // somebody was alone in a trial
  bool exclusive_ = true;
  bool runs_ahead_ = false;
  Time kept_waiting_[2] = {};
};

TEST_F(GuardTest, WhereTurnsPayNothingElseIsTriedForLong) {
  Run({30 * kMs, 20 * kMs}, 4000);
  EXPECT_FALSE(tried_);
  Run({30 * kMs, 36 * kMs}, 4200);
  EXPECT_TRUE(tried_);
  EXPECT_FALSE(guard_.trying());
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

TEST_F(GuardTest, WhatTheyTakeAloneIsLookedAtEarlyAndOnce) {
  Run({30 * kMs, 36 * kMs}, 500);
  EXPECT_EQ(guard_.alone(3), kNever);
  EXPECT_EQ(guard_.alone_at(3), kNever);
  EXPECT_EQ(solo_, 0);
  Run({30 * kMs, 36 * kMs}, 600);
  EXPECT_NEAR(static_cast<double>(guard_.alone(3)), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(guard_.alone(1)), 20e6, 0.5e6) << "22 ms were estimated";
  EXPECT_NEAR(guard_.rate(Way::kTurns), 40.0 / 30, 0.04);
  EXPECT_LE(solo_, 18 * kAlone) << "eight iterations of each";
  const Time looked = solo_;
  Run({30 * kMs, 36 * kMs}, 1500);
  guard_.Reset();  // an evaluation
  Run({30 * kMs, 36 * kMs}, 4000);
  EXPECT_EQ(solo_, looked);
  EXPECT_FALSE(tried_);
  guard_.Reset();
  guard_.Forget(1);  // another job
  Run({30 * kMs, 36 * kMs}, 4700);
  EXPECT_GT(solo_, looked);
}

TEST_F(GuardTest, WhatAHostCountsBehindItsSliceIsNotMeasured) {
  runs_ahead_ = true;
  Run({30 * kMs, 36 * kMs}, 600);
  EXPECT_NEAR(static_cast<double>(guard_.alone(3)), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(guard_.alone(1)), 20e6, 0.5e6);
}

TEST_F(GuardTest, WithoutExclusiveSlicesNobodyIsEverAlone) {
  guard_.set_exclusive(false);
  exclusive_ = false;
  Run({30 * kMs, 36 * kMs}, 4000);
  EXPECT_EQ(guard_.alone_at(3), kNever);
}

TEST_F(GuardTest, WhereTheyDoNotTheOthersAreTriedSoon) {
  Run({42 * kMs, 25 * kMs}, 200);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide);
  EXPECT_NEAR(guard_.rate(Way::kSideBySide), 1.6, 0.05);
  EXPECT_NEAR(static_cast<double>(guard_.alone(3)), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(guard_.alone(1)), 20e6, 0.5e6);
}

TEST_F(GuardTest, OneAfterTheOtherWhereTheyHinderEachOther) {
  Run({50 * kMs, 60 * kMs}, 400);
  EXPECT_EQ(guard_.settled(), Way::kExclusive);
  const double before[2] = {done_[0], done_[1]};
  Run({50 * kMs, 60 * kMs}, 600);
  EXPECT_NEAR(done_[1] - before[1], done_[0] - before[0], 20) << "in slices of like length";
}

TEST_F(GuardTest, WhatWasFoundInABadMomentIsTriedAgainSoon) {
  Run({50 * kMs, 60 * kMs}, 100);
  ASSERT_EQ(guard_.settled(), Way::kExclusive);
  Run({36 * kMs, 60 * kMs}, 320);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

TEST_F(GuardTest, JobsAreAloneForHalfAPercentOfTheTimeInTheLongRun) {
  Run({40 * kMs, 41 * kMs}, 4000);
  const Time before = now_;
  solo_ = 0;
  Run({40 * kMs, 41 * kMs}, 20'000);
  EXPECT_GT(solo_, 0);
  EXPECT_LE(solo_, (now_ - before) / 200);
}

TEST_F(GuardTest, NobodyWaitsForASecondWhileAnotherIsAlone) {
  for (Guard::Job& job : jobs_) job.alone = 200 * kMs;
  Run({420 * kMs, 250 * kMs}, 200);
  EXPECT_TRUE(tried_);
  EXPECT_LE(solo_, kMs);
  EXPECT_EQ(guard_.alone(3), kNever);
}

TEST_F(GuardTest, ALittleBetterIsNotWorthTheChange) {
  Run({40 * kMs, 39'800'000}, 400);
  EXPECT_TRUE(tried_);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

// Time-slices: nobody is ever alone, and turns that are worth nothing are left off.
TEST_F(GuardTest, WithoutExclusiveSlicesItIsTurnsOrNothing) {
  guard_.set_exclusive(false);
  exclusive_ = false;
  Run({40 * kMs, 40 * kMs}, 300);
  EXPECT_TRUE(tried_);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide);
  guard_.Reset();
  Run({40 * kMs, 41 * kMs}, 600);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

// Two GPUs of two jobs of 20 ms, in time-slices. In trials the clock of the second may be off by
// `difference`, so that it finds turns worth more or less than the first does; it estimates jobs to take
// `estimate` alone.
class TwoGpus {
 public:
  explicit TwoGpus(double difference, Time estimate = kAlone) : difference_(difference) {
    for (Guard& guard : guards_) guard.set_exclusive(false);
    for (Guard::Job& job : others_) job.alone = estimate;
  }
  // Runs for so many iterations; the share of the time in which they shared in different ways.
  double Run(Time by_turns, Time side_by_side, std::uint32_t iterations) {
    const std::uint32_t end = jobs_[0].iteration + iterations;
    int steps = 0, apart = 0;
    while (jobs_[0].iteration < end) {
      const Way first = guards_[0].Advance(jobs_, now_).way;
      for (std::size_t i = 0; i < 2; ++i) others_[i].iteration = jobs_[i].iteration;
      const Way second = guards_[1].Advance(others_, now_ + static_cast<Time>(skew_)).way;
      const bool together = first == second;
      Time step = first == Way::kTurns ? by_turns : side_by_side;
      if (!together) step = 48 * kMs;
      ++steps;
      apart += together ? 0 : 1;
      now_ += kMs / 2;
      skew_ += guards_[1].trying() ? difference_ * static_cast<double>(kMs / 2) : 0;
      for (std::size_t i = 0; i < 2; ++i) {
        done_[i] += static_cast<double>(kMs / 2) / static_cast<double>(step);
        jobs_[i].iteration = static_cast<std::uint32_t>(done_[i]);
      }
    }
    return static_cast<double>(apart) / steps;
  }
  void set_difference(double difference) { difference_ = difference; }

 private:
  static constexpr Time kAlone = 20 * kMs;
  Guard guards_[2];
  std::array<Guard::Job, 2> jobs_ = {{{0, 0, kAlone}, {1, 0, kAlone}}};
  std::array<Guard::Job, 2> others_ = jobs_;
  double done_[2] = {0, 0.5};
  double difference_, skew_ = 0;
  Time now_ = 0;
};

TEST(TwoGpusTest, ThatSettledDifferentlyAgreeAgainSoon) {
  TwoGpus gpus(-0.02);
  EXPECT_GT(gpus.Run(39'500'000, 40 * kMs, 200), 0.0) << "the control: they were never apart";
  gpus.set_difference(0.0);
  gpus.Run(39'500'000, 40 * kMs, 100);
  EXPECT_LT(gpus.Run(39'500'000, 40 * kMs, 2000), 0.02);
}

TEST(TwoGpusTest, ThatAlwaysSeeItDifferentlyAreSeldomApart) {
  TwoGpus gpus(-0.02);
  EXPECT_LT(gpus.Run(39'500'000, 40 * kMs, 10'000), 0.05);
}

TEST(TwoGpusTest, ThatEstimateDifferentlyTryAtTheSameTime) {
  for (const Time estimate : {12 * kMs, 18 * kMs}) {
    TwoGpus gpus(0.0, estimate);
    EXPECT_LT(gpus.Run(39 * kMs, 40 * kMs, 4000), 0.002) << estimate;
  }
  TwoGpus hopeful(0.0,
                  28 * kMs);  // one finds too little in it to wait, the other does not: it tries alone, twice
  hopeful.Run(39 * kMs, 40 * kMs, 400);
  EXPECT_LT(hopeful.Run(39 * kMs, 40 * kMs, 4000), 0.002);
}

TEST_F(GuardTest, NothingIsTriedWhileNothingIsKnownOfThem) {
  jobs_[1].alone = kNever;
  Run({42 * kMs, 25 * kMs}, 3000);
  EXPECT_FALSE(tried_);
}

// With the shipped turnstile, on several GPUs that tell each other nothing.
double RateOf(Time compute, Time communicate, double width, bool guard, Way way) {
  JobModelOptions options;
  options.gpus = 4;
  const JobShape shape{.compute = compute, .communicate = communicate, .width = width};
  options.jobs = {shape, shape};
  options.guard = guard;
  options.way = way;
  options.iterations = static_cast<int>(5'000 * kMs / (compute + communicate));
  const JobModelResult result = RunJobModel(options);
  const Time end = std::min(result.ends[0].back(), result.ends[1].back());
  const auto alone = static_cast<double>(compute + communicate);
  return alone / MeanStepWithin(result, 0, end / 2, end) + alone / MeanStepWithin(result, 1, end / 2, end);
}

TEST(GuardInTheModel, IsNeverWorseThanOneAfterTheOther) {
  for (const Time compute : {kMs / 2, kMs, 2 * kMs, 5 * kMs, 20 * kMs}) {
    EXPECT_GE(RateOf(compute, 1'000, 1, true, Way::kTurns), 0.99) << compute / 1000 << " us";
  }
  EXPECT_LT(RateOf(kMs / 2, 1'000, 1, false, Way::kTurns), 0.95) << "the control";
}

TEST(GuardInTheModel, FindsThatSmallKernelsRunWellSideBySide) {
  EXPECT_GE(RateOf(2 * kMs, 1'000, 0.4, true, Way::kTurns), 1.9);
}

TEST(GuardInTheModel, FindsThatTurnsPay) {
  EXPECT_GE(RateOf(20 * kMs, 12 * kMs, 1, true, Way::kTurns), 1.55);
  EXPECT_LT(RateOf(20 * kMs, 12 * kMs, 1, false, Way::kSideBySide), 1.55) << "the control";
}

}  // namespace
}  // namespace crossover::turn::test
