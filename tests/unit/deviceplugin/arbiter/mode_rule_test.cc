#include "deviceplugin/arbiter/mode_rule.h"

#include <gtest/gtest.h>

#include <vector>

namespace crossover::arbiter {
namespace {

using Phases = std::vector<std::uint32_t>;
constexpr std::uint32_t kLearning = CROSSOVER_PHASE_LEARNING;
constexpr std::uint32_t kLocked = CROSSOVER_PHASE_LOCKED;
constexpr std::uint32_t kTaking = CROSSOVER_PHASE_TAKING;

TEST(ModeRuleTest, NoClientIsGatedAlone) {
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{}), CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kLocked}), CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kTaking}), CROSSOVER_MODE_OBSERVE);
}

TEST(ModeRuleTest, TwoThatCanTakeTurnsAreGated) {
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kLocked, kLocked}), CROSSOVER_MODE_GATE);
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kLocked, kTaking}), CROSSOVER_MODE_GATE);
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kTaking, kTaking, kLocked}), CROSSOVER_MODE_GATE);
}

TEST(ModeRuleTest, OneThatCannotUngatesAll) {
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kTaking, kLearning}), CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kTaking, kTaking, kLearning}), CROSSOVER_MODE_OBSERVE);
}

TEST(ModeRuleTest, APhaseThatDoesNotExistCountsAsLearning) {
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kTaking, 3}), CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(ModeFor(Policy::kEnforce, Phases{kTaking, 0xffffffffu}), CROSSOVER_MODE_OBSERVE);
}

TEST(ModeRuleTest, OneThatIsAloneIsMeasuredUnlessAllIsOff) {
  for (const Policy policy : {Policy::kEnforce, Policy::kObserve}) {
    EXPECT_EQ(ModeFor(policy, Phases{kLocked}, true), CROSSOVER_MODE_GATE);
    EXPECT_EQ(ModeFor(policy, Phases{kLearning}, true), CROSSOVER_MODE_OBSERVE);
    EXPECT_EQ(ModeFor(policy, Phases{}, true), CROSSOVER_MODE_OBSERVE);
  }
  EXPECT_EQ(ModeFor(Policy::kObserve, Phases{kLocked, kLocked}, true), CROSSOVER_MODE_OBSERVE);
  EXPECT_EQ(ModeFor(Policy::kOff, Phases{kLocked}, true), CROSSOVER_MODE_OFF);
}

TEST(ModeRuleTest, TheSwitchOutranksThePhases) {
  for (const Phases& phases : {Phases{}, Phases{kTaking}, Phases{kTaking, kTaking}}) {
    EXPECT_EQ(ModeFor(Policy::kObserve, phases), CROSSOVER_MODE_OBSERVE);
    EXPECT_EQ(ModeFor(Policy::kOff, phases), CROSSOVER_MODE_OFF);
  }
}

}  // namespace
}  // namespace crossover::arbiter
