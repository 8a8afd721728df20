#include "simgpu/cuda/channels.h"

#include <gtest/gtest.h>

#include "simgpu/cuda/loading.h"

namespace simgpu {
namespace {

MachineConfig Machine(int channels, ChannelOrder order) {
  MachineConfig machine;
  machine.channels = channels;
  machine.channel_order = order;
  return machine;
}

TEST(ChannelsTest, StreamsShareNothingByDefault) {
  std::string complaint;
  const ChannelRules rules = RulesOfChannels(MachineConfig(), 0, nullptr, &complaint);
  EXPECT_EQ(rules.order, ChannelOrder::kFree);
  EXPECT_EQ(rules.count, 8);
  EXPECT_EQ(complaint, "");
}

TEST(ChannelsTest, TheVariableReplacesTheMachinesNumber) {
  std::string complaint;
  const MachineConfig machine = Machine(8, ChannelOrder::kRelease);
  for (const auto& [text, count] : {std::pair("1", 1), std::pair("2", 2), std::pair("32", 32)}) {
    const ChannelRules rules = RulesOfChannels(machine, 0, text, &complaint);
    EXPECT_EQ(rules.count, count);
    EXPECT_EQ(rules.order, ChannelOrder::kRelease) << "the variable changes the number alone";
  }
  EXPECT_EQ(complaint, "");
}

TEST(ChannelsTest, ANumberThatIsNoneIsIgnoredInWords) {
  for (const char* text : {"", "0", "33", "-1", "8x", " 8", "all"}) {
    std::string complaint;
    EXPECT_EQ(RulesOfChannels(Machine(2, ChannelOrder::kRelease), 0, text, &complaint).count, 2) << text;
    EXPECT_EQ(complaint, "environment: CUDA_DEVICE_MAX_CONNECTIONS=" + std::string(text) +
                             ": expected a whole number from 1 to 32; the variable is ignored");
  }
}

TEST(ChannelsTest, TheFaultQueuesStandsForChannelsInOrder) {
  std::string complaint;
  const ChannelRules rules = RulesOfChannels(Machine(8, ChannelOrder::kRelease), 3, "2", &complaint);
  EXPECT_EQ(rules.order, ChannelOrder::kInOrder);
  EXPECT_EQ(rules.count, 3);
  EXPECT_EQ(rules.Of(7), 1);
}

TEST(LoadingTest, ARuleSaysWhichLaunchesLoad) {
  const LoadingRule off, first{LoadingRule::kOnce}, third{3};
  EXPECT_FALSE(off.Loads(0));
  EXPECT_TRUE(first.Loads(0));
  EXPECT_FALSE(first.Loads(1));
  EXPECT_TRUE(third.Loads(0));
  EXPECT_FALSE(third.Loads(2));
  EXPECT_TRUE(third.Loads(3));
}

TEST(LoadingTest, TheVariableTurnsItOffAndNeverOn) {
  std::string complaint;
  const LoadingRule first{LoadingRule::kOnce};
  EXPECT_EQ(RuleOfLoading(first, "EAGER", &complaint).every, 0);
  for (const char* text : {"LAZY", "DEFAULT", static_cast<const char*>(nullptr)}) {
    EXPECT_EQ(RuleOfLoading(first, text, &complaint).every, first.every);
    EXPECT_EQ(RuleOfLoading({}, text, &complaint).every, 0);
  }
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(RuleOfLoading(first, "lazy", &complaint).every, first.every);
  EXPECT_EQ(complaint,
            "environment: CUDA_MODULE_LOADING=lazy: expected EAGER, LAZY or DEFAULT; the variable "
            "is ignored");
}

}  // namespace
}  // namespace simgpu
