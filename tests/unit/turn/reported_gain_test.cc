// Compares the gain that the shipped ClientStats report with the true one, in the job model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/turn/job_model_daemon.h"

namespace crossover::turn::test {
namespace {

struct Errors {
  double worst = 0;             // of the gains that are not marked as uncertain
  double worst_of_one_gpu = 0;  // of the control
  int reports = 0;
  int uncertain = 0;
};

// Returns the errors of the reported gain for two equal jobs of eight ranks, in runs of 60 s with the guard
// on.
Errors ErrorsOf(double jitter, double tail, int gpus_here = 8) {
  Errors errors;
  for (const std::uint64_t seed : {1u, 2u}) {
    JobModelOptions options;
    options.seed = seed;
    options.hand_over = 70'000;
    options.guard = true;
    options.jobs = {{.jitter = jitter, .tail = tail}, {.jitter = jitter, .tail = tail}};
    options.iterations = 1000;
    JobModelDaemon daemon(2, options.gpus, gpus_here);
    options.observer = &daemon;
    const JobModelResult result = RunJobModel(options);
    const Time end = std::min(result.ends[0].back(), result.ends[1].back());
    double truth = 0;
    for (std::size_t job = 0; job < 2; ++job)
      truth += MeanAloneWithin(options, result, job, 0, end) / MeanStepWithin(result, job, 0, end);
    for (std::size_t i = 0; i < daemon.gains().size(); ++i) {
      const JobModelDaemon::Gain& gain = daemon.gains()[i];
      ++errors.reports;
      errors.worst_of_one_gpu =
          std::max(errors.worst_of_one_gpu, std::abs(daemon.gains_of_one_gpu()[i] / truth - 1));
      if (gain.uncertain) {
        ++errors.uncertain;
      } else {
        errors.worst = std::max(errors.worst, std::abs(gain.gain / truth - 1));
      }
    }
  }
  return errors;
}

TEST(ReportedGain, IsRightWhereNoRankDiffers) {
  const Errors errors = ErrorsOf(0, 0);
  EXPECT_GE(errors.reports, 4);
  EXPECT_LT(errors.worst, 0.03);
  EXPECT_EQ(errors.uncertain, 0);
}

TEST(ReportedGain, IsRightUnderJitterAndStragglers) {
  for (const double tail : {0.0, 0.05, 0.1}) {
    const Errors errors = ErrorsOf(0.05, tail);
    EXPECT_GE(errors.reports, 4) << tail;
    EXPECT_LT(errors.worst, 0.08) << tail;
    EXPECT_LE(errors.uncertain, errors.reports / 10) << tail;
    if (tail > 0) {
      EXPECT_GT(errors.worst_of_one_gpu, 0.08) << "the control, " << tail;
    }
  }
}

TEST(ReportedGain, IsRightOrMarkedWhereHalfOfTheRanksAreElsewhere) {
  for (const double tail : {0.0, 0.05}) EXPECT_LT(ErrorsOf(0.05, tail, 4).worst, 0.08) << tail;
}

}  // namespace
}  // namespace crossover::turn::test
