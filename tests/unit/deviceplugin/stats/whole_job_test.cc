// Tests the estimate of what iterations would take alone, from turns of ranks that differ.
#include "deviceplugin/stats/whole_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace crossover::deviceplugin {
namespace {

constexpr turn::Time kMs = base::kNsPerMs;
constexpr turn::Time kAway = 12 * kMs;

// A Job makes iterations of a job of several ranks, of which the first few are on this node. Each rank
// waits for its turn as long as another job's stragglers let it wait. This wait is no part of the iteration
// alone.
class Job {
 public:
  Job(int ranks, int here) : ranks_(ranks), here_(here) {}

  void Run(int iterations, double jitter, double tail) {
    std::normal_distribution<double> normal(1, jitter);
    std::uniform_real_distribution<double> even(0, 1);
    for (int i = 0; i < iterations; ++i) {
      std::vector<turn::Time> turns, ends;
      for (int rank = 0; rank < ranks_; ++rank) {
        double factor = jitter > 0 ? normal(random_) : 1;
        if (even(random_) < tail) factor *= 1 + 2 * even(random_);
        turns.push_back(static_cast<turn::Time>(20e6 * factor));
        const double waits = 1 + (even(random_) < tail ? 2 * even(random_) : 0);
        ends.push_back(static_cast<turn::Time>(20e6 * waits) + turns.back());
      }
      const turn::Time slowest = *std::max_element(turns.begin(), turns.end());
      const turn::Time last = *std::max_element(ends.begin(), ends.end());
      alone_ += static_cast<double>(slowest + kAway);
      one_rank_ += static_cast<double>(turns[0] + kAway);
      now_ += last + kAway;
      for (int rank = 0; rank < here_; ++rank) {
        const WholeJob::Part part = {static_cast<std::uint64_t>(rank), number_, 0, 1};
        const auto index = static_cast<std::size_t>(rank);
        job_.NoteTurn(part, turns[index], now_);
        job_.NoteAway(part, last - ends[index] + kAway, now_);
      }
      ++number_;
      ++iterations_;
    }
  }
  // Returns the estimate over the truth.
  double Reported() const {
    const auto alone = job_.Alone(static_cast<std::uint32_t>(ranks_));
    return alone ? static_cast<double>(alone->value) / (alone_ / iterations_) : 0;
  }
  double Error() const { return job_.Alone(static_cast<std::uint32_t>(ranks_))->error; }
  // Returns what the estimator of a single GPU says, over the truth. It adds the GPU's mean turn and the
  // absence.
  double OfOneRank() const { return one_rank_ / alone_; }
  const WholeJob& job() const { return job_; }

 private:
  WholeJob job_;
  int ranks_;
  int here_;
  std::mt19937 random_{7};
  std::uint32_t number_ = 0xfffffff0u;  // it wraps
  turn::Time now_ = 1000 * base::kNsPerSecond;
  double alone_ = 0, one_rank_ = 0;
  int iterations_ = 0;
};

TEST(WholeJobTest, SaysWhatEqualRanksTake) {
  Job job(8, 8);
  job.Run(200, 0, 0);
  EXPECT_DOUBLE_EQ(job.Reported(), 1);
  EXPECT_DOUBLE_EQ(job.Error(), 0.03) << "jobs beside it";
  EXPECT_NEAR(*job.job().Spread(8), 0, 1e-9);
}

TEST(WholeJobTest, TheSlowestRankCountsUnderJitterAndStragglers) {
  for (const double tail : {0.0, 0.05, 0.1}) {
    Job job(8, 8);
    job.Run(200, 0.05, tail);
    EXPECT_NEAR(job.Reported(), 1, 0.02) << tail;
    EXPECT_LT(job.Error(), 0.05) << tail;
    // The control shows that one GPU sees only its own mean.
    EXPECT_LT(job.OfOneRank(), 0.96) << tail;
  }
}

TEST(WholeJobTest, RanksThatAreNotHereAreReckonedWithAndCountAsError) {
  for (const int here : {1, 4}) {
    Job job(8, here);
    job.Run(400, 0.05, 0.05);
    EXPECT_LT(std::abs(job.Reported() - 1), 2 * job.Error()) << here;
    EXPECT_GT(job.Error(), 0.04) << here;
  }
  Job equal(8, 1);
  equal.Run(400, 0, 0);
  EXPECT_NEAR(equal.Reported(), 1, 0.001) << "where no rank differs, none that is missing matters";
  EXPECT_LT(equal.Error(), 0.031);
}

TEST(WholeJobTest, SaysNothingOfFewIterationsNorOfThoseThatItSawInPart) {
  Job few(4, 4);
  few.Run(7, 0, 0);
  EXPECT_FALSE(few.job().Alone(4));
  EXPECT_FALSE(few.job().Spread(4));
  few.Run(1, 0, 0);
  EXPECT_TRUE(few.job().Alone(4));

  WholeJob job;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const turn::Time now = (i + 1) * 40 * kMs;
    job.NoteTurn({0, i, 0, 1}, 20 * kMs, now);
    job.NoteAway({0, i, 0, 1}, kAway, now);
    if (i % 2 == 0) continue;  // the other rank's events are lost
    job.NoteTurn({1, i, 0, 1}, 40 * kMs, now);
    job.NoteAway({1, i, 0, 1}, kAway, now);
  }
  EXPECT_EQ(job.Alone(2)->value, 52 * kMs) << "of the iterations of which both were seen";
}

TEST(WholeJobTest, AStallIsNoPartOfIt) {
  WholeJob job;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const turn::Time now = (i + 1) * 40 * kMs;
    job.NoteTurn({0, i, 0, 1}, i == 50 ? 500 * kMs : 20 * kMs, now);
    job.NoteAway({0, i, 0, 1}, kAway, now);
  }
  EXPECT_EQ(job.Alone(1)->value, 32 * kMs);
}

// A client says its own rank. What it says fills no memory, and takes nothing from the ranks that are known.
TEST(WholeJobTest, RanksBeyondTheMostAreLeftOut) {
  WholeJob job;
  const std::uint64_t most = 64;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const turn::Time now = (i + 1) * 40 * kMs;
    for (std::uint64_t rank = 0; rank <= most; ++rank) {
      job.NoteTurn({rank, i, 0, 2}, 10 * kMs, now);
      job.NoteAway({rank, i, 0, 2}, kAway / 2, now);
    }
    for (std::uint64_t rank = 0; rank < most; ++rank) {
      job.NoteTurn({rank, i, 1, 2}, 10 * kMs, now);
      job.NoteAway({rank, i, 1, 2}, kAway / 2, now);
    }
  }
  ASSERT_TRUE(job.Alone(most));
  EXPECT_EQ(job.Alone(most)->value, 20 * kMs + kAway);
}

TEST(WholeJobTest, AddsUpTheTurnsOfAnIteration) {
  WholeJob job;
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (const std::uint64_t rank : {0u, 1u}) {
      const turn::Time own = static_cast<turn::Time>(rank + 1) * kMs;
      job.NoteTurn({rank, i, 0, 2}, own, i * 40 * kMs);
      job.NoteAway({rank, i, 0, 2}, 3 * kMs, i * 40 * kMs);
      job.NoteTurn({rank, i, 1, 2}, 10 * own, i * 40 * kMs);
      job.NoteAway({rank, i, 1, 2}, 5 * own, i * 40 * kMs);
    }
  }
  EXPECT_EQ(job.Alone(2)->value, (2 + 3 + 20 + 5) * kMs);
}

TEST(WholeJobTest, WhatMakesNoSenseIsLeftOut) {
  WholeJob job;
  for (std::uint32_t i = 0; i < 100; ++i) {
    job.NoteTurn({0, i, 4, 4}, kMs, i);
    job.NoteTurn({0, i, 0, 9}, kMs, i);
    job.NoteTurn({0, i, 0, 1}, -1, i);
    job.NoteAway({0, i, 0, 1}, -1, i);
  }
  EXPECT_FALSE(job.Alone(1));
  WholeJob no_turn, no_away;
  for (std::uint32_t i = 0; i < 100; ++i) {
    no_turn.NoteTurn({0, i, 0, 1}, 0, i);
    no_turn.NoteAway({0, i, 0, 1}, kMs, i);
    no_away.NoteTurn({0, i, 0, 1}, kMs, i);
    no_away.NoteAway({0, i, 0, 1}, -1, i);
  }
  EXPECT_FALSE(no_turn.Alone(1));
  EXPECT_FALSE(no_away.Alone(1));
}

TEST(PrecisionTest, TheMoreExactFigureCountsForMore) {
  const Precise rough = {40 * kMs, 0.1};
  const Precise exact = {32 * kMs, 0.01};
  const Precise both = Together(rough, exact);
  EXPECT_NEAR(static_cast<double>(both.value), 32e6, 0.2e6);
  EXPECT_LT(both.error, exact.error);
  EXPECT_FALSE(Apart(rough, exact));
  EXPECT_TRUE(Apart({40 * kMs, 0.01}, exact));
}

TEST(PrecisionTest, TheErrorOfAMeanFallsWithItsSamplesAndSeesThatTheyDepend) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(10, 1);
  std::vector<double> own, runs;
  for (int i = 0; i < 6400; ++i) {
    own.push_back(normal(random));
    runs.push_back(i % 400 == 0 ? normal(random) : runs.back());
  }
  EXPECT_NEAR(ErrorOfMean(own), 0.1 / 80, 0.1 / 80 * 0.7);
  EXPECT_GT(ErrorOfMean(runs), 5 * ErrorOfMean(own)) << "400 alike are one sample";
  EXPECT_EQ(ErrorOfMean(std::vector<double>{1}), 1);
}

}  // namespace
}  // namespace crossover::deviceplugin
