#include "turn/guard.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/unit/turn/job_model.h"
#include "turn/slices.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;

// Two jobs of 20 ms alone, whose steps depend on how they share.
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
      if (plan.way != guard_.settled()) elsewhere_ += kMs / 2;
      if (plan.way == Way::kExclusive && plan.owner != owner_) ++owners_;
      owner_ = plan.owner;
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
  Time solo_ = 0;       // a job was alone in a look
  Time elsewhere_ = 0;  // the jobs ran in another way than the chosen one
  SlotIndex owner_ = kNobody;
  int owners_ = 0;  // times that the GPU got another owner
  bool exclusive_ = true;
  bool runs_ahead_ = false;
  Time kept_waiting_[2] = {};
};

TEST_F(GuardTest, TheBetterWayIsFoundWithinSecondsOfTheMeeting) {
  Run({36 * kMs, 26 * kMs}, 80);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide) << "turns gain, and side by side gains more";
  EXPECT_LE(now_, 3000 * kMs);
  guard_.Reset();
  jobs_[0].iteration = 0;
  done_[0] = 0;
  Run({26 * kMs, 36 * kMs}, 80);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
  EXPECT_FALSE(guard_.trying());
}

// A host of one rank is ahead of another's, and a daemon does not see each number. GPUs that change ways at
// different iterations measure neither way.
TEST(Guard, GpusThatSeeNumbersLateChangeWaysTogether) {
  constexpr std::uint32_t kMetAt = 16, kLate = 1;
  std::uint32_t apart = 0;
  for (std::uint32_t met = 0; met < kMetAt; ++met) {
    Guard early, late;
    std::array<Way, 2> ways = {Way::kTurns, Way::kTurns};
    std::array<std::vector<std::uint32_t>, 2> changes;
    for (std::uint32_t iteration = met; iteration < met + 400; ++iteration) {
      for (std::size_t gpu = 0; gpu < 2; ++gpu) {
        const std::uint32_t seen = gpu == 0 ? iteration : (iteration - kLate) / 3 * 3;
        const Time now = 30 * kMs * static_cast<Time>(iteration) + kMs;
        const std::array<Guard::Job, 2> jobs = {{{0, seen, 20 * kMs}, {1, seen, 20 * kMs}}};
        const Way way = (gpu == 0 ? early : late).Advance(jobs, now).way;
        if (way != std::exchange(ways[gpu], way)) changes[gpu].push_back(iteration);
      }
    }
    ASSERT_GE(changes[0].size(), 2u);
    bool together = changes[0].size() == changes[1].size();
    for (std::size_t i = 0; together && i < changes[0].size(); ++i)
      together = changes[1][i] - changes[0][i] <= kLate + 3;
    apart += together ? 0 : 1;
  }
  EXPECT_LE(apart, 4u) << "only where they meet within three iterations of a multiple of 16";
}

// One of them finds it worth while to know early what the jobs take alone, the other does not.
TEST(Guard, GpusThatEstimateDifferentlyCompareWaysTogether) {
  std::array<Guard, 2> guards;
  std::array<std::vector<std::uint32_t>, 2> begun;
  std::array<int, 2> alone = {};
  for (std::uint32_t iteration = 5; iteration < 900; ++iteration) {
    for (std::size_t gpu = 0; gpu < 2; ++gpu) {
      const Time estimate = gpu == 0 ? 20 * kMs : 24 * kMs;
      const Time now = 37 * kMs * static_cast<Time>(iteration);
      const std::array<Guard::Job, 2> jobs = {{{0, iteration, estimate}, {1, iteration, estimate}}};
      const bool tried = guards[gpu].trying();
      const Way way = guards[gpu].Advance(jobs, now).way;
      alone[gpu] += way == Way::kExclusive ? 1 : 0;
      if (way == Way::kSideBySide && (!tried || begun[gpu].empty() || begun[gpu].back() != iteration - 1))
        begun[gpu].push_back(iteration);
      else if (way == Way::kSideBySide)
        begun[gpu].back() = iteration;
    }
  }
  EXPECT_GT(alone[0], 0);
  EXPECT_EQ(alone[1], 0) << "at a rate of 1.3 it can wait";
  for (auto& looks : begun) {
    ASSERT_GE(looks.size(), 2u);
    looks.resize(2);  // the next ones come when these may cost something again, and that differs
  }
  EXPECT_EQ(begun[0], begun[1]);
}

TEST_F(GuardTest, LooksAreShort) {
  Run({30 * kMs, 40 * kMs}, 6000);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
  EXPECT_GT(elsewhere_, 0);
  EXPECT_LE(elsewhere_, now_ / 40);
  EXPECT_LE(guard_.lost(), now_ / 150);
}

// A look at a way that is far worse is half as long.
TEST_F(GuardTest, ALookAtAFarWorseWayEndsAtAGlance) {
  Run({26 * kMs, 40 * kMs}, 300);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
  const Time glance = std::exchange(elsewhere_, 0);
  EXPECT_GT(glance, 0);
  EXPECT_LE(glance, 7 * 40 * kMs) << "two unmeasured iterations and four measured ones";
  guard_.Reset();
  Run({26 * kMs, 26'100'000}, 700);
  EXPECT_GE(elsewhere_, 10 * 26 * kMs) << "the control: ways that are alike are looked at for longer";
}

// As jobs do whose turns end at gaps.
TEST(Guard, GoesBackToTurnsWhereAJobCountsItsIterationsByThemAlone) {
  Guard guard;
  std::uint32_t iteration[2] = {};
  Time side_by_side = 0;
  Guard::Plan plan;
  for (Time now = kMs; now <= 60'000 * kMs; now += kMs) {
    const std::array<Guard::Job, 2> jobs = {{{0, iteration[0], 25 * kMs}, {1, iteration[1], 25 * kMs}}};
    plan = guard.Advance(jobs, now);
    if (plan.way == Way::kSideBySide) side_by_side += kMs;
    for (SlotIndex slot = 0; slot < 2; ++slot) {
      const bool counts = plan.way == Way::kTurns || (plan.way == Way::kExclusive && plan.owner == slot);
      if (counts && now % (25 * kMs) == 0) ++iteration[slot];
    }
  }
  EXPECT_EQ(plan.way, Way::kTurns);
  EXPECT_GT(side_by_side, 0);
  EXPECT_LE(side_by_side, 6'000 * kMs);
}

TEST_F(GuardTest, AClearDifferenceIsNotConfirmedSoon) {
  Run({30 * kMs, 40 * kMs}, 80);
  ASSERT_FALSE(guard_.trying());
  tried_ = false;
  Run({30 * kMs, 40 * kMs}, 1000);
  EXPECT_FALSE(tried_);
}

TEST_F(GuardTest, ASmallDifferenceIsConfirmedSoon) {
  Run({30 * kMs, 31 * kMs}, 80);
  ASSERT_FALSE(guard_.trying());
  tried_ = false;
  Run({30 * kMs, 31 * kMs}, 300);
  EXPECT_TRUE(tried_);
}

TEST_F(GuardTest, SaysWhatLooksCost) {
  Run({30 * kMs, 40 * kMs}, 80);
  ASSERT_FALSE(guard_.trying());
  EXPECT_NEAR(static_cast<double>(guard_.looked()), static_cast<double>(elsewhere_), 2e6);
  EXPECT_NEAR(static_cast<double>(guard_.lost()), static_cast<double>(elsewhere_) / 4,
              0.1 * static_cast<double>(elsewhere_));
  const Time first = guard_.lost();
  Run({30 * kMs, 40 * kMs}, 3000);
  EXPECT_GT(guard_.lost(), first);
  guard_.Reset();
  EXPECT_GT(guard_.lost(), first) << "it is counted on";
}

// Nothing in the way that jobs run in tells that the other one has become better.
TEST_F(GuardTest, AWayThatHasBecomeBetterIsFoundByTheNextLook) {
  Run({30 * kMs, 40 * kMs}, 2100);
  ASSERT_EQ(guard_.settled(), Way::kTurns);
  Run({30 * kMs, 25 * kMs}, 2100 + 1100);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide);
}

TEST_F(GuardTest, JobsThatHaveChangedAreLookedAtSoon) {
  Run({30 * kMs, 40 * kMs}, 1100);
  ASSERT_EQ(guard_.settled(), Way::kTurns);
  Run({38 * kMs, 28 * kMs}, 1100 + 180);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide);
}

// Iterations spread, so a mean differs by chance. 32 iterations that spread by 0.32 have a mean that is sure
// within 0.06, and within 0.1 if they spread by 0.55.
TEST_F(GuardTest, AChangeCountsFromFourStandardErrorsOn) {
  struct Case {
    double change, spread;
    bool is_sure;
  };
  for (const Case& c : {Case{0.27, 0.32, true}, Case{0.23, 0.55, false}}) {
    guard_ = Guard();
    jobs_[0].iteration = 0;
    done_[0] = 0, done_[1] = 0.5;
    Run({30 * kMs, 40 * kMs}, 80);
    ASSERT_EQ(guard_.settled(), Way::kTurns);
    tried_ = false;
    for (std::uint32_t iteration = 80; iteration < 400; ++iteration) {
      const double apart = iteration % 4 < 2 ? -c.spread : c.spread;
      const double step = 30e6 * std::exp(-c.change) * (1 + apart);
      Run({static_cast<Time>(step), 40 * kMs}, iteration + 1);
    }
    EXPECT_EQ(tried_, c.is_sure) << c.change;
  }
}

TEST_F(GuardTest, AWayThatGivesLessThanTheOtherGaveIsLeft) {
  Run({30 * kMs, 27 * kMs}, 300);
  ASSERT_EQ(guard_.settled(), Way::kSideBySide);
  Run({30 * kMs, 33 * kMs}, 300 + 200);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

TEST_F(GuardTest, APauseKeepsWhatWasFoundAndResetForgetsIt) {
  Run({36 * kMs, 26 * kMs}, 80);
  ASSERT_EQ(guard_.settled(), Way::kSideBySide);
  guard_.Pause();
  EXPECT_EQ(guard_.Advance(jobs_, now_).way, Way::kSideBySide);
  EXPECT_FALSE(guard_.trying());
  guard_.Reset();
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

TEST_F(GuardTest, AFirstLookThatIsBrokenOffBeginsAnew) {
  Run({36 * kMs, 26 * kMs}, 52);
  EXPECT_TRUE(guard_.trying());
  guard_.Pause();
  EXPECT_EQ(guard_.Advance(jobs_, now_).way, Way::kTurns);
  Run({36 * kMs, 26 * kMs}, 130);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide);
}

TEST_F(GuardTest, WhatTheyTakeAloneIsMeasuredSoonWhereTheyGainLittle) {
  Run({40 * kMs, 46 * kMs}, 120);
  EXPECT_EQ(guard_.alone(3), kNever);
  EXPECT_EQ(guard_.alone_at(3), kNever);
  EXPECT_EQ(solo_, 0);
  Run({40 * kMs, 46 * kMs}, 200);
  EXPECT_NEAR(static_cast<double>(guard_.alone(3)), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(guard_.alone(1)), 20e6, 0.5e6) << "22 ms were estimated";
  EXPECT_GE(guard_.alone_over(3), 4u);
  EXPECT_NEAR(guard_.rate(Way::kTurns), 40.0 / 40, 0.04);
  EXPECT_LE(solo_, 18 * kAlone) << "eight iterations of each";
}

// The first look may end so late that the jobs are alone before the first window of the chosen way has ended.
TEST_F(GuardTest, TheWayThatWasChosenALittleBeforeTheyAreAloneStays) {
  for (const auto& [steps, way] : {std::pair{Steps{42 * kMs, 36 * kMs}, Way::kSideBySide},
                                   std::pair{Steps{36 * kMs, 42 * kMs}, Way::kTurns}}) {
    guard_ = Guard();
    jobs_ = {{{3, 48, kAlone}, {1, 48, kAlone}}};
    done_[0] = 48;
    done_[1] = 48.5;
    Run(steps, 126);
    ASSERT_EQ(guard_.settled(), way);
    ASSERT_EQ(guard_.alone(3), kNever);
    Run(steps, 200);
    EXPECT_NE(guard_.alone(3), kNever);
    EXPECT_EQ(guard_.settled(), way);
    EXPECT_NEAR(guard_.rate(Way::kTurns), 40e6 / static_cast<double>(steps.by_turns), 0.04);
    EXPECT_NEAR(guard_.rate(Way::kSideBySide), 40e6 / static_cast<double>(steps.side_by_side), 0.04);
  }
}

// To be alone costs jobs the more, the better they share.
TEST_F(GuardTest, WhatTheyTakeAloneIsMeasuredLateAndOnceWhereTheyGainMuch) {
  Run({30 * kMs, 36 * kMs}, 1000);
  EXPECT_EQ(guard_.alone(3), kNever);
  EXPECT_EQ(solo_, 0);
  Run({30 * kMs, 36 * kMs}, 1100);
  EXPECT_NEAR(static_cast<double>(guard_.alone(3)), 20e6, 0.5e6);
  EXPECT_LE(solo_, 18 * kAlone);
  const Time looked = solo_;
  Run({30 * kMs, 36 * kMs}, 2400);
  guard_.Pause();  // an evaluation
  Run({30 * kMs, 36 * kMs}, 4000);
  EXPECT_EQ(solo_, looked);
  guard_.Reset();
  guard_.Forget(1);  // another job
  Run({30 * kMs, 36 * kMs}, 5700);
  EXPECT_GT(solo_, looked);
}

TEST_F(GuardTest, WhatAHostCountsBehindItsSliceIsNotMeasured) {
  runs_ahead_ = true;
  Run({40 * kMs, 46 * kMs}, 600);
  EXPECT_NEAR(static_cast<double>(guard_.alone(3)), 20e6, 0.5e6);
  EXPECT_NEAR(static_cast<double>(guard_.alone(1)), 20e6, 0.5e6);
}

TEST_F(GuardTest, WithoutExclusiveSlicesNoJobIsEverAlone) {
  guard_.set_exclusive(false);
  exclusive_ = false;
  Run({30 * kMs, 36 * kMs}, 4000);
  EXPECT_EQ(guard_.alone_at(3), kNever);
}

TEST_F(GuardTest, OneAfterTheOtherWhereTheyHinderEachOther) {
  Run({50 * kMs, 60 * kMs}, 310);
  ASSERT_EQ(guard_.settled(), Way::kExclusive);
  ASSERT_FALSE(guard_.trying());
  const double before[2] = {done_[0], done_[1]};
  owners_ = 0;
  const Time looked = guard_.looked();
  Run({50 * kMs, 60 * kMs}, 426);
  ASSERT_EQ(guard_.looked(), looked) << "the test expects no look in between";
  EXPECT_NEAR(done_[1] - before[1], done_[0] - before[0], 20) << "in slices of like length";
  EXPECT_NEAR(owners_, 2 * 116 / 16, 3)
      << "a slice is 16 iterations of 20 ms: the least power of two over 250 ms";
}

TEST_F(GuardTest, WhatWasFoundInABadMomentIsTriedAgainSoon) {
  Run({50 * kMs, 60 * kMs}, 200);
  ASSERT_EQ(guard_.settled(), Way::kExclusive);
  Run({36 * kMs, 60 * kMs}, 600);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

TEST_F(GuardTest, JobsOfLongIterationsAreLookedAtToo) {
  for (Guard::Job& job : jobs_) job.alone = 2000 * kMs;
  Run({4200 * kMs, 2500 * kMs}, 48);
  EXPECT_EQ(guard_.settled(), Way::kSideBySide);
  EXPECT_LE(solo_, kMs) << "a job would keep the GPU for seconds";
  EXPECT_EQ(guard_.alone(3), kNever);
}

TEST_F(GuardTest, ALittleBetterIsNotWorthTheChange) {
  Run({40 * kMs, 39'800'000}, 400);
  EXPECT_TRUE(tried_);
  EXPECT_EQ(guard_.settled(), Way::kTurns);
}

// Time-slices: no job is ever alone, and turns that are worth nothing are left off.
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

// This is a pair of jobs in time-slices that keep their turns for slices. Each iteration takes `alone` on the
// GPU, and a switch from one job to the other takes `switch_cost`.
class SlicedPair {
 public:
  explicit SlicedPair(Time switch_cost) : switch_cost_(switch_cost) {
    guard_.set_exclusive(false);
    guard_.set_slice(kSliceIterations);
  }
  // Runs until the first job has done so many iterations more. `side_by_side` is the step of both jobs in
  // that way.
  void Run(Time side_by_side, std::uint32_t iterations) {
    const std::uint32_t end = jobs_[0].iteration + iterations;
    while (jobs_[0].iteration < end) {
      const Guard::Plan plan = guard_.Advance(jobs_, now_);
      EXPECT_NE(plan.way, Way::kExclusive);
      looks_ += plan.way == Way::kSideBySide && way_ == Way::kTurns ? 1 : 0;
      if (plan.way != way_) left_ = jobs_[holder_].alone;
      way_ = plan.way;
      now_ += kStep;
      if (way_ == Way::kSideBySide) {
        for (std::size_t i = 0; i < 2; ++i) {
          done_[i] += static_cast<double>(kStep) / static_cast<double>(side_by_side);
          if (done_[i] >= 1) Complete(i);
        }
        continue;
      }
      left_ -= kStep;
      if (left_ > 0) continue;
      Complete(holder_);
      left_ = jobs_[holder_].alone;
      if (jobs_[holder_].iteration % kSliceIterations != 0) continue;
      holder_ = 1 - holder_;
      left_ = jobs_[holder_].alone + switch_cost_;
    }
  }
  // Returns the work done until now per time, over one job after the other.
  double Work() const {
    return static_cast<double>((jobs_[0].iteration + jobs_[1].iteration - kFirst[0] - kFirst[1]) * kAlone) /
           static_cast<double>(now_);
  }
  const Guard& guard() const { return guard_; }
  int looks() const { return looks_; }
  void set_alone(Time alone) {
    for (Guard::Job& job : jobs_) job.alone = alone;
  }

  static constexpr Time kAlone = 26 * kMs;

 private:
  static constexpr Time kStep = kMs / 2;
  static constexpr std::uint32_t kFirst[2] = {9, 21};
  void Complete(std::size_t job) {
    ++jobs_[job].iteration;
    done_[job] = 0;
  }
  Time switch_cost_;
  Guard guard_;
  std::array<Guard::Job, 2> jobs_ = {{{0, kFirst[0], kAlone}, {1, kFirst[1], kAlone}}};
  double done_[2] = {};
  std::size_t holder_ = 0;
  Time left_ = kAlone;
  Time now_ = 0;
  Way way_ = Way::kTurns;
  int looks_ = 0;
};

TEST(SlicedPairTest, StaysInSlicesWhereSwitchesCostMuch) {
  SlicedPair pair(4 * kMs);
  pair.Run(130 * kMs, 1150);
  EXPECT_EQ(pair.guard().settled(), Way::kTurns);
  EXPECT_EQ(pair.looks(), 1) << "it has seen at once how bad the other way is";
  EXPECT_NEAR(pair.guard().rate(Way::kTurns), 0.995, 0.01);
  EXPECT_GE(pair.Work(), 0.985) << "the look included";
}

TEST(SlicedPairTest, RunsSideBySideWhereThatGives) {
  SlicedPair pair(0);
  pair.Run(40 * kMs, 200);
  EXPECT_EQ(pair.guard().settled(), Way::kSideBySide);
}

TEST(SlicedPairTest, StaysInSlicesWhereSideBySideIsNoBetterThanOneAfterTheOther) {
  SlicedPair pair(0);
  pair.Run(53 * kMs, 600);
  EXPECT_EQ(pair.guard().settled(), Way::kTurns);
  EXPECT_GE(pair.Work(), 0.985);
}

// A switch becomes cheap if the other job lets its memory go.
TEST(SlicedPairTest, ComesBackToSideBySideWhenThatGives) {
  SlicedPair pair(0);
  pair.Run(60 * kMs, 400);
  ASSERT_EQ(pair.guard().settled(), Way::kTurns);
  pair.Run(40 * kMs, 2200);
  EXPECT_EQ(pair.guard().settled(), Way::kSideBySide);
}

TEST(SlicedPairTest, JobsThatHaveChangedAreLookedAtSoon) {
  SlicedPair pair(4 * kMs);
  pair.Run(130 * kMs, 400);
  ASSERT_EQ(pair.looks(), 1);
  pair.set_alone(40 * kMs);
  pair.Run(130 * kMs, 300);
  EXPECT_GE(pair.looks(), 2);
}

// This has two GPUs of two jobs of 20 ms, in time-slices. While it tries them side by side, the clock of the
// second may be off by `difference`, so that it finds turns worth more or less than the first does; it
// estimates jobs to take `estimate` alone.
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
      skew_ +=
          guards_[1].trying() && second == Way::kSideBySide ? difference_ * static_cast<double>(kMs / 2) : 0;
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
  EXPECT_LT(gpus.Run(39'500'000, 40 * kMs, 10'000), 0.1) << "a look every 1024 iterations";
}

TEST(TwoGpusTest, ThatEstimateDifferentlyLookAtTheSameTime) {
  for (const Time estimate : {12 * kMs, 18 * kMs, 28 * kMs}) {
    TwoGpus gpus(0.0, estimate);
    gpus.Run(39 * kMs, 40 * kMs, 400);
    EXPECT_LT(gpus.Run(39 * kMs, 40 * kMs, 4000), 0.002) << estimate;
  }
}

TEST_F(GuardTest, NothingIsTriedWhileNothingIsKnownOfThem) {
  jobs_[1].alone = kNever;
  Run({42 * kMs, 25 * kMs}, 3000);
  EXPECT_FALSE(tried_);
}

// With the shipped turnstile, on several GPUs that tell each other nothing: what two equal jobs do in so many
// seconds, from their meeting on, over one after the other.
JobModelOptions Pair(const JobShape& shape, double co_run = 1) {
  JobModelOptions options;
  options.gpus = 4;
  options.hand_over = 70'000;
  options.jobs = {shape, shape};
  options.co_run = co_run;
  return options;
}

double RateOf(JobModelOptions options, bool guard, Way way = Way::kTurns, Time seconds = 60) {
  const JobShape& shape = options.jobs[0];
  options.guard = guard;
  options.way = way;
  options.iterations = static_cast<int>(seconds * 1000 * kMs / (shape.compute + shape.communicate));
  const JobModelResult result = RunJobModel(options);
  const Time end = std::min({seconds * 1000 * kMs, result.ends[0].back(), result.ends[1].back()});
  double rate = 0;
  for (std::size_t job = 0; job < 2; ++job) {
    rate += MeanAloneWithin(options, result, job, 0, end) / MeanStepWithin(result, job, 0, end);
  }
  return rate;
}

TEST(GuardInTheModel, IsNeverWorseThanOneAfterTheOther) {
  for (const Time compute : {kMs / 2, kMs, 2 * kMs, 5 * kMs, 20 * kMs}) {
    const JobModelOptions pair = Pair({.compute = compute, .communicate = 1'000});
    EXPECT_GE(RateOf(pair, true, Way::kTurns, 10), 0.985) << compute / 1000 << " us";
  }
  const JobModelOptions pair = Pair({.compute = kMs / 2, .communicate = 1'000});
  EXPECT_LT(RateOf(pair, false, Way::kTurns, 10), 0.95) << "the control";
}

TEST(GuardInTheModel, FindsThatSmallKernelsRunWellSideBySide) {
  EXPECT_GE(RateOf(Pair({.compute = 2 * kMs, .communicate = 1'000, .width = 0.4}), true, Way::kTurns, 10),
            1.9);
}

// From the meeting on, looks included. One of each kind: the figure `guard_best` has them all.
TEST(GuardInTheModel, GivesNearlyWhatTheBestWayGives) {
  struct Case {
    double co_run;
    Time communicate;
    double tail;
  };
  for (const Case& c :
       {Case{1.0, 2 * kMs, 0}, Case{1.0, 20 * kMs, 0}, Case{1.1, 6 * kMs, 0}, Case{1.25, 6 * kMs, 0},
        Case{1.4, 2 * kMs, 0}, Case{1.4, 12 * kMs, 0}, Case{1.25, 6 * kMs, 0.05}}) {
    const JobShape shape{.compute = 20 * kMs, .communicate = c.communicate, .jitter = 0.05, .tail = c.tail};
    const JobModelOptions pair = Pair(shape, c.co_run);
    const double best = std::max(RateOf(pair, false, Way::kTurns), RateOf(pair, false, Way::kSideBySide));
    EXPECT_GE(RateOf(pair, true), 0.97 * best)
        << c.co_run << ", m = " << c.communicate / kMs << " ms, " << c.tail;
  }
}

TEST(GuardInTheModelControl, NeitherWayIsTheBestEverywhere) {
  const JobModelOptions gains = Pair({.compute = 20 * kMs, .communicate = 2 * kMs, .jitter = 0.05}, 1.4);
  EXPECT_LT(RateOf(gains, false, Way::kTurns), 0.97 * RateOf(gains, false, Way::kSideBySide));
  const JobModelOptions pays = Pair({.compute = 20 * kMs, .communicate = 12 * kMs, .jitter = 0.05}, 1);
  EXPECT_LT(RateOf(pays, false, Way::kSideBySide), 0.97 * RateOf(pays, false, Way::kTurns));
}

}  // namespace
}  // namespace crossover::turn::test
