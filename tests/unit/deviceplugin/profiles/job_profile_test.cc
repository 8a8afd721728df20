#include "deviceplugin/profiles/job_profile.h"

#include <gtest/gtest.h>

#include "tests/unit/deviceplugin/profiles/sample.h"

namespace crossover::deviceplugin {
namespace {

TEST(JobProfileTest, FiguresThatWereLearnedReplaceOlderOnes) {
  JobProfile known = Sample("a", 10);
  JobProfile fresh;
  fresh.compute = {5, 100, MeasurementSource::kTurns};
  fresh.away = {6, 100, MeasurementSource::kTurns};
  Learn(fresh, 50, &known);
  EXPECT_EQ(known.compute->value, 5);
  EXPECT_EQ(known.away->value, 6);
  EXPECT_EQ(known.step_alone, Sample("a", 10).step_alone) << "what was not learned stays, with its age";
  EXPECT_EQ(known.peak_memory, Sample("a", 10).peak_memory);
  EXPECT_EQ(known.newest(), 100);
}

TEST(JobProfileTest, WhenItWasDisturbedLastStays) {
  JobProfile known = Sample("a", 10);
  Learn({}, 50, &known);
  EXPECT_EQ(known.disturbed, 10);
  JobProfile fresh;
  for (const turn::Time at : {70, 60}) {
    fresh.disturbed = at;
    Learn(fresh, 50, &known);
  }
  EXPECT_EQ(known.disturbed, 70);
  EXPECT_FALSE(fresh.empty()) << "it is worth keeping";
  EXPECT_EQ(known.step_alone, Sample("a", 10).step_alone);
}

TEST(JobProfileTest, OfItsRanksTheSlowestCounts) {
  JobProfile known;
  JobProfile rank;
  for (const turn::Time c : {20, 30, 10}) {
    rank.compute = {c, 100 + c, MeasurementSource::kTurns};
    rank.away = {50 - c, 100 + c, MeasurementSource::kTurns};
    rank.peak_memory = {static_cast<std::uint64_t>(c), 100, MeasurementSource::kNvml};
    Learn(rank, 50, &known);
  }
  EXPECT_EQ(known.demand().busy, 30);
  EXPECT_EQ(known.demand().away, 20) << "c and m are of the same rank";
  EXPECT_EQ(known.peak_memory->value, 30u);
}

TEST(JobProfileTest, AMeasuredStepIsNotReplacedByAnEstimate) {
  const auto after = [](MeasurementSource known, MeasurementSource fresh) {
    JobProfile profile;
    profile.step_alone = {10, 10, known};
    JobProfile rank;
    rank.step_alone = {5, 100, fresh};
    Learn(rank, 50, &profile);
    return profile.step_alone->value;
  };
  EXPECT_EQ(after(MeasurementSource::kMeasured, MeasurementSource::kEstimated), 10);
  EXPECT_EQ(after(MeasurementSource::kMeasured, MeasurementSource::kRemembered), 10);
  EXPECT_EQ(after(MeasurementSource::kMeasured, MeasurementSource::kMeasured), 5);
  EXPECT_EQ(after(MeasurementSource::kEstimated, MeasurementSource::kEstimated), 5);
  EXPECT_EQ(after(MeasurementSource::kEstimated, MeasurementSource::kMeasured), 5);
}

TEST(JobProfileTest, DemandIsUnknownWithoutBothParts) {
  EXPECT_FALSE(JobProfile().demand().known());
  EXPECT_TRUE(Sample("a").demand().known());
  EXPECT_TRUE(JobProfile().empty());
  EXPECT_FALSE(Sample("a").empty());
}

}  // namespace
}  // namespace crossover::deviceplugin
