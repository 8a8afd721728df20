#include "extender/placement/starvation.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class PatienceTest : public ::testing::Test {
 protected:
  void Runs(int gpus, std::optional<double> started_s) {
    state_.placed.push_back({.gang = Job("r", gpus), .seats = {}, .started_s = started_s});
  }
  // Returns the patience, in seconds, of a gang that needs `gpus` GPUs.
  double After(double now_s, int gpus = 4) const {
    return PatienceOf(state_, now_s, settings_).Of(Job("w", gpus));
  }
  PatienceTest() {
    settings_.starvation_s = 1800;
    settings_.starvation_runs = 1;
  }
  State state_;
  Settings settings_;
};

TEST_F(PatienceTest, IsWhatAdministratorsSayWhereNothingRuns) { EXPECT_EQ(After(1e6), 1800); }

TEST_F(PatienceTest, GrowsWithHowLongThoseThatRunHaveRun) {
  Runs(1, 0);
  Runs(3, 80'000);
  EXPECT_EQ(After(100'000), (100'000 + 3 * 20'000) / 4.0);
  settings_.starvation_runs = 0.5;
  EXPECT_EQ(After(100'000), (100'000 + 3 * 20'000) / 8.0);
  settings_.starvation_runs = 0;
  EXPECT_EQ(After(100'000), 1800);
}

TEST_F(PatienceTest, IsNeverLess) {
  Runs(4, 99'000);
  EXPECT_EQ(After(100'000), 1800);
}

TEST_F(PatienceTest, WhoseStartIsNotKnownDoesNotCount) {
  Runs(4, 0);
  Runs(4, std::nullopt);
  EXPECT_EQ(After(100'000), 100'000);
}

// The largest node has 8 GPUs, and 1 GPU is an eighth of it.
TEST_F(PatienceTest, IsShorterForGangsThatNeedAPartOfANode) {
  state_.nodes = Nodes(1, 4);
  state_.nodes.push_back(Nodes(1, 8).front());
  Runs(8, 0);
  EXPECT_EQ(After(80'000, 32), 80'000);
  EXPECT_EQ(After(80'000, 8), 80'000);
  EXPECT_EQ(After(80'000, 4), 40'000);
  EXPECT_EQ(After(80'000, 1), 10'000);
  EXPECT_EQ(After(8'000, 1), 1800) << "but never below what administrators say";
}

TEST(BusyPartTest, GrowsFromNoneToAll) {
  EXPECT_EQ(BusyPart(1000, 1800), 0);
  EXPECT_EQ(BusyPart(1800, 1800), 0);
  EXPECT_EQ(BusyPart(3600, 1800), 0.5);
  EXPECT_EQ(BusyPart(5400, 1800), 1);
  EXPECT_EQ(BusyPart(1e9, 1800), 1);
  EXPECT_EQ(BusyPart(0, 0), 1);
}

}  // namespace
}  // namespace crossover::placement
