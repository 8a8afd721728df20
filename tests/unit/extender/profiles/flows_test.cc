#include "extender/profiles/flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <utility>

namespace crossover::extender {
namespace {

using testing::IsEmpty;
using enum NcclFunction;

using Sent = std::map<std::pair<int, int>, placement::Bytes>;  // by sender and receiver

Sent SentIn(const std::vector<CallGroup>& groups) {
  Sent sent;
  const auto flows = FlowsOf(groups).value();
  for (const placement::Flow& flow : flows)
    EXPECT_TRUE(sent.try_emplace({flow.from, flow.to}, flow.bytes).second) << "each pair once";
  return sent;
}

// Returns what all pods together send.
placement::Bytes SumOf(const std::vector<CallGroup>& groups) {
  placement::Bytes sum = 0;
  for (const auto& [pair, bytes] : SentIn(groups)) sum += bytes;
  return sum;
}

TEST(FlowsTest, CollectivesGoAroundTheRing) {
  const std::vector<int> ring = {0, 2, 1, 3};
  const auto around = [](placement::Bytes bytes) {
    return Sent{{{0, 2}, bytes}, {{2, 1}, bytes}, {{1, 3}, bytes}, {{3, 0}, bytes}};
  };
  EXPECT_EQ(SentIn({{kAllReduce, ring, 100}}), around(150)) << "2 x 3/4 of the buffer";
  EXPECT_EQ(SentIn({{kReduceScatter, ring, 100}}), around(300)) << "the shares of three others";
  EXPECT_EQ(SentIn({{kAllGather, ring, 100}}), around(300));
}

// An AllReduce is a ReduceScatter and an AllGather of shares of a quarter.
TEST(FlowsTest, AllReduceSendsWhatItsHalvesSend) {
  const std::vector<int> ring = {0, 1, 2, 3};
  EXPECT_EQ(SentIn({{kAllReduce, ring, 400}}),
            SentIn({{kReduceScatter, ring, 100}, {kAllGather, ring, 100}}));
}

TEST(FlowsTest, AChainBeginsOrEndsAtTheRoot) {
  EXPECT_EQ(SentIn({{kBroadcast, {2, 3, 0, 1}, 10}}), (Sent{{{2, 3}, 10}, {{3, 0}, 10}, {{0, 1}, 10}}));
  EXPECT_EQ(SentIn({{kReduce, {2, 3, 0, 1}, 10}}), (Sent{{{3, 0}, 10}, {{0, 1}, 10}, {{1, 2}, 10}}));
}

TEST(FlowsTest, TheOthersSendDirectly) {
  EXPECT_EQ(SentIn({{kSend, {3, 1}, 10}}), (Sent{{{3, 1}, 10}}));
  EXPECT_EQ(SentIn({{kGather, {1, 0, 2}, 10}}), (Sent{{{0, 1}, 10}, {{2, 1}, 10}}));
  EXPECT_EQ(SentIn({{kScatter, {1, 0, 2}, 10}}), (Sent{{{1, 0}, 10}, {{1, 2}, 10}}));
  EXPECT_EQ(SumOf({{kAlltoAll, {0, 1, 2, 3}, 10}}), 12 * 10u) << "each to each other";
}

TEST(FlowsTest, RanksOfOnePodSendNothingOverTheNetwork) {
  EXPECT_EQ(SentIn({{kAllReduce, {0, 0, 1, 1}, 100}}), (Sent{{{0, 1}, 150}, {{1, 0}, 150}}));
  EXPECT_EQ(SentIn({{kAlltoAll, {0, 0, 1, 1}, 10}}), (Sent{{{0, 1}, 40}, {{1, 0}, 40}}));
  EXPECT_THAT(SentIn({{kAllReduce, {0, 0}, 100}, {kSend, {1, 1}, 100}}), IsEmpty());
}

TEST(FlowsTest, FlowsOfAPairAreSummed) {
  EXPECT_EQ(SentIn({{kSend, {0, 1}, 10}, {kBroadcast, {0, 1}, 5}, {kSend, {1, 0}, 1}}),
            (Sent{{{0, 1}, 15}, {{1, 0}, 1}}));
  EXPECT_THAT(SentIn({}), IsEmpty());
}

TEST(FlowsTest, TheSumOfTheLargestFitsInAWord) {
  std::vector<int> many(kMostMembers);
  std::iota(many.begin(), many.end(), 0);
  const std::vector<CallGroup> groups(4, {kAllGather, many, kMostCallBytes});
  for (const auto& [pair, bytes] : SentIn(groups)) ASSERT_EQ(bytes, kMostOfFlow);
  EXPECT_LE(kMostFlows, ~placement::Bytes{0} / kMostOfFlow);
}

TEST(FlowsTest, MoreFlowsThanCanBeMappedAreNone) {
  std::vector<int> all(256);  // 256 x 255 pairs
  std::iota(all.begin(), all.end(), 0);
  EXPECT_TRUE(FlowsOf(std::vector<CallGroup>{{kAlltoAll, all, 1}}));
  for (int pod = 256; pod < 260; ++pod) all.push_back(pod);
  EXPECT_FALSE(FlowsOf(std::vector<CallGroup>{{kAlltoAll, all, 1}}));
}

// Pod 1 sends to both others, and pod 2 gets from both.
TEST(FlowsTest, TheBusiestPodIsTheOneThatSendsOrGetsMost) {
  const std::vector<CallGroup> groups = {{kSend, {1, 0}, 30}, {kSend, {1, 2}, 20}, {kSend, {0, 2}, 35}};
  const auto bytes = [](int runs, const std::vector<CallGroup>& of) {
    return LinkBytesOf({.pods = 3, .runs = runs, .groups = of});
  };
  EXPECT_EQ(bytes(kRunsThatAgree, groups), 55u) << "pod 2 gets 20 and 35";
  EXPECT_EQ(bytes(kRunsThatAgree, {groups[0], groups[1]}), 50u) << "pod 1 sends 30 and 20";
  EXPECT_EQ(bytes(kRunsThatAgree, {{kAllReduce, {0, 1, 2, 3}, 100}}), 150u);
  EXPECT_EQ(bytes(kRunsThatAgree, {{kAllReduce, {0, 0}, 100}}), 0u) << "both ranks are in one pod";
  EXPECT_EQ(bytes(kRunsThatAgree - 1, groups), 0u);
}

}  // namespace
}  // namespace crossover::extender
