#include "extender/placement/rules.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

// Starts with two jobs that break no rule.
class RulesTest : public ::testing::Test {
 protected:
  std::optional<Rule> Violation(const std::vector<Observed>& observed = {}) {
    const History history(observed);
    const std::vector<const Gang*> there{&there_};
    const auto violation = FirstViolation({there, newcomer_, site_, history, settings_}, &prediction_);
    return violation ? std::optional(violation->rule) : std::nullopt;
  }
  Gang there_ = Job("there"), newcomer_ = Job("newcomer");
  GpuSetSpec site_{.slots = 2, .memory = 80 * kGib, .one_user = false, .spans = true};
  Settings settings_;
  Prediction prediction_;
};

TEST_F(RulesTest, JobsThatGainMayMeet) {
  EXPECT_EQ(Violation(), std::nullopt);
  EXPECT_NEAR(prediction_.gain, 1.9, 1e-9);
}

TEST_F(RulesTest, AGangIsOnAGpuOnce) {
  newcomer_.id = there_.id;
  EXPECT_EQ(Violation(), Rule::kTwoRanks);
}

TEST_F(RulesTest, StagesOfAJobAreOnAGpuOnce) {
  there_.job = "job";
  newcomer_.job = "another";
  EXPECT_EQ(Violation(), std::nullopt);
  newcomer_.job = "job";
  EXPECT_EQ(Violation(), Rule::kTwoRanks);
}

TEST_F(RulesTest, IdenticalSetsNeedEqualCounts) {
  newcomer_.pods = 2;
  EXPECT_EQ(Violation(), Rule::kSameCount);
  newcomer_.gpus_per_pod = 2;
  EXPECT_EQ(Violation(), std::nullopt) << "two pods of two GPUs are four, too";
}

TEST_F(RulesTest, EverybodyNeedsASlot) {
  site_.slots = 1;
  EXPECT_EQ(Violation(), Rule::kSlots);
}

TEST_F(RulesTest, NoGangIsBesideOneThatWantsWholeGpus) {
  newcomer_.exclusive = true;
  EXPECT_EQ(Violation(), Rule::kExclusive);
  newcomer_.exclusive = false;
  there_.exclusive = true;
  EXPECT_EQ(Violation(), Rule::kExclusive);
}

TEST_F(RulesTest, BothConsent) {
  newcomer_.space = "others";
  EXPECT_EQ(Violation(), Rule::kConsent);
  newcomer_.consent = there_.consent = Consent::kCluster;
  EXPECT_EQ(Violation(), std::nullopt);
}

TEST_F(RulesTest, OneUserWhereMpsServesOne) {
  newcomer_.uid = 1000;
  EXPECT_EQ(Violation(), std::nullopt);
  site_.one_user = true;
  EXPECT_EQ(Violation(), Rule::kUser);
}

TEST_F(RulesTest, AUserOfItsOwnIsAnotherUser) {
  for (Gang* gang : {&newcomer_, &there_}) {
    gang->users = Users::kOwn;
    site_.one_user = false;
    EXPECT_EQ(Violation(), std::nullopt);
    site_.one_user = true;
    EXPECT_EQ(Violation(), Rule::kUser);
    gang->users = Users::kOne;
  }
  EXPECT_EQ(Violation(), std::nullopt);
}

TEST_F(RulesTest, WhoHasNoLimitIsAlone) {
  newcomer_.memory_cap = 0;
  newcomer_.profile.source = Source::kUnknown;
  EXPECT_EQ(Violation(), Rule::kLearning);
  std::swap(newcomer_, there_);
  EXPECT_EQ(Violation(), Rule::kLearning);
}

TEST_F(RulesTest, WhoWasLearntMayMeet) {
  newcomer_.memory_cap = 0;
  newcomer_.profile.peak_memory = 30 * kGib;
  EXPECT_EQ(Violation(), std::nullopt);
}

TEST_F(RulesTest, CapsFitWithWhatContextsTake) {
  site_.memory = 41 * kGib;
  EXPECT_EQ(Violation(), std::nullopt);
  site_.memory -= 1;
  EXPECT_EQ(Violation(), Rule::kMemory);
}

TEST_F(RulesTest, NoGangSharesGpusOfUnknownMemory) {
  site_.memory = 0;
  EXPECT_EQ(Violation(), Rule::kMemoryUnknown);
  site_.slots = 1;
  EXPECT_EQ(Violation(), Rule::kMemoryUnknown) << "it says more than that there is no slot";
  site_.memory = 80 * kGib;
  EXPECT_EQ(Violation(), Rule::kSlots);
}

TEST_F(RulesTest, APairThatLostIsNotMadeAgain) {
  there_.key = "bert", newcomer_.key = "gpt";
  EXPECT_EQ(Violation({{"bert", "gpt", 0.97}}), Rule::kHistory);
  EXPECT_EQ(Violation({{"gpt", "bert", 0.97}}), Rule::kHistory);
  EXPECT_EQ(Violation({{"gpt", "bert", 1.06}}), std::nullopt);
  EXPECT_NEAR(prediction_.gain, 1.06, 1e-9);
  EXPECT_EQ(Violation({{"gpt", "bert", 1.02}}), Rule::kGain) << "whatever is predicted";
  EXPECT_EQ(Violation({{"gpt", "gpt", 0.5}}), std::nullopt);
  there_.key = newcomer_.key = "";
  EXPECT_EQ(Violation({{"", "", 0.5}}), std::nullopt) << "jobs without a key are not all the same job";
}

TEST_F(RulesTest, CapsOnSlowdownsAreKept) {
  there_.max_slowdown = 1.1;
  EXPECT_EQ(Violation(), std::nullopt);
  newcomer_.profile.exposed_s = there_.profile.exposed_s = 0.002;
  newcomer_.max_slowdown = 1.5;
  EXPECT_EQ(Violation(), Rule::kSlowdown);
}

TEST_F(RulesTest, ItIsWorthIt) {
  newcomer_.profile.exposed_s = there_.profile.exposed_s = 0;
  EXPECT_EQ(Violation(), Rule::kGain);
}

// The two jobs fill the GPU, and a third would only take time from them.
TEST_F(RulesTest, AThirdHasToAddSomething) {
  const History history({});
  site_.slots = 3;
  const Gang other = Job("other");
  const std::vector<const Gang*> there{&there_, &other};
  EXPECT_EQ(FirstViolation({there, newcomer_, site_, history, settings_})->rule, Rule::kGain);
  newcomer_.profile.compute_s = 0.001;
  newcomer_.profile.exposed_s = 0.019;
  EXPECT_FALSE(FirstViolation({there, newcomer_, site_, history, settings_}).has_value());
}

// Two jobs that fill the GPU reach a gain of 1.9. With a third that computes for 0.4 of its time, all three
// reach 2.036, which is 1.07 times 1.9. With one that computes for 0.45 of its time, they reach 1.966,
// which is 1.03 times 1.9.
TEST_F(RulesTest, AThirdHasToRaiseWhatTheOthersReachByTheLeastGain) {
  const History history({});
  site_.slots = 3;
  const Gang other = Job("other");
  const std::vector<const Gang*> there{&there_, &other};
  const auto violation = [&](double compute_s) {
    newcomer_.profile.compute_s = compute_s;
    newcomer_.profile.exposed_s = 0.02 - compute_s;
    return FirstViolation({there, newcomer_, site_, history, settings_}, &prediction_);
  };
  EXPECT_FALSE(violation(0.008).has_value());
  EXPECT_NEAR(prediction_.gain, 3 * 0.95 / 1.4, 1e-9);
  ASSERT_TRUE(violation(0.009).has_value());
  EXPECT_EQ(violation(0.009)->rule, Rule::kGain);
  EXPECT_NEAR(violation(0.009)->gain, 3 * 0.95 / 1.45 / 1.9, 1e-9);
  settings_.min_gain = 1.03;
  EXPECT_FALSE(violation(0.009).has_value());
  settings_.min_gain = 1;
  EXPECT_EQ(violation(0.01)->rule, Rule::kGain) << "a third that adds nothing";
}

TEST_F(RulesTest, SaysWithWhom) {
  const History history({});
  Gang third = Job("third");
  third.exclusive = true;
  const std::vector<const Gang*> there{&there_, &third};
  site_.slots = 3;
  EXPECT_EQ(FirstViolation({there, newcomer_, site_, history, settings_})->peer, &third);
}

}  // namespace
}  // namespace crossover::placement
