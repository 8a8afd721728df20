#include "extender/placement/expect.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class ExpectTest : public ::testing::Test {
 protected:
  ExpectTest() {
    a_.key = "bert", b_.key = "gpt", c_.key = "vgg";
    c_.profile.exposed_s = 0.020;
  }
  Prediction Of(const std::vector<const Gang*>& gangs, const std::vector<Observed>& observed) {
    return Expect(gangs, true, History(observed), settings_);
  }
  Gang a_ = Job("a"), b_ = Job("b"), c_ = Job("c");
  Settings settings_;
};

TEST_F(ExpectTest, WhoNeverMetIsPredicted) {
  const Prediction found = Of({&a_, &b_}, {{"bert", "vgg", 1.1}});
  EXPECT_NEAR(found.gain, 1.9, 1e-9);
  EXPECT_FALSE(found.met);
}

TEST_F(ExpectTest, AMeasuredMeetingBeatsAPrediction) {
  const Prediction found = Of({&a_, &b_}, {{"gpt", "bert", 1.2}});
  EXPECT_NEAR(found.gain, 1.2, 1e-9);
  EXPECT_TRUE(found.met);
  EXPECT_NEAR(found.slowdown[0], 2 / 1.2, 1e-9) << "of equal rates";
}

TEST_F(ExpectTest, AMeetingThatWentBetterThanPredicted) {
  a_.profile.exposed_s = b_.profile.exposed_s = 0.001;  // the prediction is 1.045 at most
  const Prediction found = Of({&a_, &b_}, {{"gpt", "bert", 1.9}});
  EXPECT_NEAR(found.gain, 1.9, 1e-9);
  EXPECT_GE(found.slowdown[0], 1);
}

TEST_F(ExpectTest, TheLaterMeetingCounts) {
  EXPECT_NEAR(Of({&a_, &b_}, {{"gpt", "bert", 1.2}, {"bert", "gpt", 1.4}}).gain, 1.4, 1e-9);
}

// The prediction keeps the cap, and what was observed does not.
TEST_F(ExpectTest, CapsAreJudgedByWhatWasSeen) {
  a_.max_slowdown = b_.max_slowdown = 1.3;
  EXPECT_TRUE(Of({&a_, &b_}, {}).caps_kept);
  EXPECT_FALSE(Of({&a_, &b_}, {{"gpt", "bert", 1.2}}).caps_kept);
}

TEST_F(ExpectTest, OfThreeTheWorstPairThatMetCounts) {
  const double predicted = Of({&a_, &b_, &c_}, {}).gain;
  EXPECT_NEAR(Of({&a_, &b_, &c_}, {{"gpt", "bert", 0.95}}).gain, predicted / 2, 1e-9);
  EXPECT_NEAR(Of({&a_, &b_, &c_}, {{"gpt", "bert", 0.95}, {"gpt", "vgg", 1.5}}).gain, predicted / 2, 1e-9);
  EXPECT_NEAR(Of({&a_, &b_, &c_}, {{"gpt", "bert", 2.5}}).gain, predicted, 1e-9) << "no more than predicted";
}

TEST_F(ExpectTest, OneAloneIsItself) { EXPECT_EQ(Of({&a_}, {{"bert", "bert", 0.5}}).gain, 1); }

}  // namespace
}  // namespace crossover::placement
