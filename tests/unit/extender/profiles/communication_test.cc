#include "extender/profiles/communication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using enum NcclFunction;

// Tests what the calls of pods p0, p1, .. of a job say together. Rank i of a communicator is in pod pi unless
// a test says otherwise.
class JoinCallsTest : public ::testing::Test {
 protected:
  JoinCallsTest() {
    // The places of the job's pods need not follow each other: other jobs have pods, too.
    for (int pod = 0; pod < 8; ++pod)
      order_[{"team", "p" + std::to_string(pod)}] = static_cast<std::size_t>(10 + 3 * pod);
  }

  // Adds a call of one rank. Returns it, so that a test can change it.
  NcclCall& Add(std::uint64_t communicator, int size, int rank, NcclFunction function,
                std::uint64_t bytes = 100, int peer = 0) {
    calls_.push_back({.pod = "p" + std::to_string(rank),
                      .communicator = communicator,
                      .size = size,
                      .rank = rank,
                      .function = function,
                      .peer = peer,
                      .bytes = bytes});
    return calls_.back();
  }
  // Adds a collective call of all ranks.
  void AddAll(std::uint64_t communicator, int size, NcclFunction function, std::uint64_t bytes = 100,
              int root = 0) {
    for (int rank = 0; rank < size; ++rank) Add(communicator, size, rank, function, bytes, root);
  }
  JoinedCalls Join() {
    std::vector<const NcclCall*> all;
    for (const NcclCall& call : calls_) all.push_back(&call);
    return JoinCalls(all, "team", order_);
  }

  std::vector<NcclCall> calls_;
  PodOrder order_;
};

TEST_F(JoinCallsTest, RanksOfACommunicatorAreOneGroup) {
  AddAll(1, 4, kAllReduce);
  const JoinedCalls joined = Join();
  EXPECT_TRUE(joined.complete);
  EXPECT_EQ(joined.pods(), 4);
  EXPECT_THAT(joined.groups, ElementsAre(CallGroup{kAllReduce, {0, 1, 2, 3}, 100}));
}

TEST_F(JoinCallsTest, PodsAreNumberedInTheOrderOfTheirRanksAndMembersAreInThatOfTheCommunicators) {
  AddAll(1, 3, kAllReduce);
  order_ = {{{"team", "p2"}, 0}, {{"team", "p0"}, 1}, {{"team", "p1"}, 2}, {{"other", "p1"}, 3}};
  EXPECT_THAT(Join().groups, ElementsAre(CallGroup{kAllReduce, {1, 2, 0}, 100}));
}

TEST_F(JoinCallsTest, APodWithSeveralRanksIsThereOnceForEach) {
  AddAll(1, 4, kAllGather);
  for (NcclCall& call : calls_) call.pod = call.rank < 2 ? "p0" : "p1";
  const JoinedCalls joined = Join();
  EXPECT_TRUE(joined.complete);
  EXPECT_EQ(joined.pods(), 2);
  EXPECT_THAT(joined.groups, ElementsAre(CallGroup{kAllGather, {0, 0, 1, 1}, 100}));
}

TEST_F(JoinCallsTest, GroupsOfTheSameFunctionAndMembersAreSummed) {
  AddAll(1, 2, kAllReduce, 100);
  AddAll(2, 2, kAllReduce, 11);
  AddAll(2, 2, kReduceScatter, 7);
  EXPECT_THAT(Join().groups,
              ElementsAre(CallGroup{kAllReduce, {0, 1}, 111}, CallGroup{kReduceScatter, {0, 1}, 7}));
}

TEST_F(JoinCallsTest, GroupsOfOnePodAreKeptAndThoseOfNoByteAreNot) {
  AddAll(1, 2, kAllReduce);
  AddAll(2, 2, kBroadcast, 0);
  for (NcclCall& call : calls_) call.pod = "p0";
  const JoinedCalls joined = Join();
  EXPECT_TRUE(joined.complete);
  EXPECT_THAT(joined.groups, ElementsAre(CallGroup{kAllReduce, {0, 0}, 100}));
}

TEST_F(JoinCallsTest, TheRootComesFirst) {
  AddAll(1, 4, kBroadcast, 100, 2);
  AddAll(1, 4, kBroadcast, 10, 0);
  EXPECT_THAT(Join().groups,
              ElementsAre(CallGroup{kBroadcast, {0, 1, 2, 3}, 10}, CallGroup{kBroadcast, {2, 3, 0, 1}, 100}));
}

TEST_F(JoinCallsTest, TheSenderSaysWhatIsSent) {
  Add(1, 2, 0, kSend, 100, 1);
  Add(1, 2, 1, kRecv, 999, 0);
  const JoinedCalls joined = Join();
  EXPECT_TRUE(joined.complete);
  EXPECT_THAT(joined.groups, ElementsAre(CallGroup{kSend, {0, 1}, 100}));
}

TEST_F(JoinCallsTest, ARecvAloneIsNothing) {
  Add(1, 2, 0, kRecv, 100, 1);
  Add(1, 2, 1, kRecv, 100, 0);
  EXPECT_THAT(Join().groups, IsEmpty());
}

TEST_F(JoinCallsTest, OfBytesThatDifferTheMostCounts) {
  AddAll(1, 2, kAllReduce, 100);
  calls_[1].bytes = 105;
  EXPECT_THAT(Join().groups, ElementsAre(CallGroup{kAllReduce, {0, 1}, 105}));
}

// In each of the next cases the second communicator is sound, and remains.
class IncompleteCallsTest : public JoinCallsTest {
 protected:
  IncompleteCallsTest() {
    AddAll(1, 4, kAllReduce, 100);
    AddAll(2, 2, kAllReduce, 7);
  }
  void Expect() {
    const JoinedCalls joined = Join();
    EXPECT_FALSE(joined.complete);
    EXPECT_THAT(joined.groups, ElementsAre(CallGroup{kAllReduce, {0, 1}, 7}));
  }
};

TEST_F(IncompleteCallsTest, TheControlIsComplete) {
  EXPECT_TRUE(Join().complete);
  EXPECT_THAT(Join().groups, SizeIs(2));
}

TEST_F(IncompleteCallsTest, ARankIsMissing) {
  calls_.erase(calls_.begin() + 2);
  Expect();
}

TEST_F(IncompleteCallsTest, TwoPodsClaimTheSameRank) {
  Add(1, 4, 3, kReduceScatter).pod = "p2";
  Expect();
}

TEST_F(IncompleteCallsTest, ARankSaysTheSameTwice) {
  Add(1, 4, 3, kAllReduce, 100);
  Expect();
}

TEST_F(IncompleteCallsTest, RanksDifferInTheSize) {
  calls_[3].size = 5;
  Expect();
}

TEST_F(IncompleteCallsTest, APodHasNoPlace) {
  order_.erase({"team", "p3"});
  order_[{"other", "p3"}] = 5;
  Expect();
}

TEST_F(IncompleteCallsTest, SomeRanksDoNotCallACollective) {
  for (int rank = 0; rank < 3; ++rank) Add(1, 4, rank, kReduceScatter);
  const JoinedCalls joined = Join();
  EXPECT_FALSE(joined.complete);
  EXPECT_THAT(joined.groups, SizeIs(2)) << "what all ranks call remains";
}

TEST_F(JoinCallsTest, MoreGroupsThanAProfileHasAreNotComplete) {
  const auto add = [this](int groups) {
    calls_.clear();
    for (int rank = 0; rank <= groups; ++rank)
      Add(1, groups + 1, rank, kSend, 100, rank < groups ? rank + 1 : rank - 1);
    for (NcclCall& call : calls_) order_[{"team", call.pod}] = static_cast<std::size_t>(call.rank);
  };
  add(static_cast<int>(kMostCallGroups) - 1);
  EXPECT_TRUE(Join().complete);
  EXPECT_THAT(Join().groups, SizeIs(kMostCallGroups));
  add(static_cast<int>(kMostCallGroups));
  EXPECT_FALSE(Join().complete);
}

TEST_F(JoinCallsTest, SumsStayWithinWhatAProfileMayHave) {
  for (std::uint64_t communicator = 0; communicator < 3; ++communicator)
    AddAll(communicator, 2, kAllReduce, kMostCallBytes);
  EXPECT_THAT(Join().groups, ElementsAre(CallGroup{kAllReduce, {0, 1}, kMostCallBytes}));
}

// Tests which runs count.
class CountRunTest : public ::testing::Test {
 protected:
  void See(const std::string& gang, double began_s, std::uint64_t bytes = 1000, bool complete = true) {
    const JoinedCalls calls{.names = {"a", "b"},
                            .groups = {{kAllReduce, {0, 1}, bytes}, {kSend, {0, 1}, 50}},
                            .complete = complete};
    CountRun(calls, {.gang = gang, .began_s = began_s, .at_s = began_s + 100}, &known_);
  }
  Communication known_;
};

TEST_F(CountRunTest, RunsThatAgreeAreCounted) {
  See("team/a", 1e9);
  EXPECT_EQ(known_.runs, 1);
  EXPECT_EQ(known_.pods, 2);
  EXPECT_EQ(known_.gang, "team/a");
  EXPECT_EQ(known_.began_s, 1e9);
  See("team/b", 1e9 + 1000, 1090);
  EXPECT_EQ(known_.runs, 2);
  EXPECT_EQ(known_.gang, "team/b");
  EXPECT_EQ(known_.groups[0].bytes, 1090u);
  See("team/b", 1e9 + 9000, 1090);
  EXPECT_EQ(known_.runs, 3) << "a gang of the same name that runs again";
}

TEST_F(CountRunTest, TheSameRunCountsOnce) {
  See("team/a", 1e9);
  for (int i = 0; i < 10; ++i) See("team/a", 1e9 - i, 1000 + static_cast<std::uint64_t>(i));
  EXPECT_EQ(known_.runs, 1);
  EXPECT_EQ(known_.groups[0].bytes, 1000u) << "figures that hardly move are not written anew";
}

TEST_F(CountRunTest, ARunThatDiffersTakesThePlace) {
  See("team/a", 1e9);
  See("team/b", 1e9 + 1000);
  See("team/c", 1e9 + 2000, 1200);
  EXPECT_EQ(known_.runs, 1);
  EXPECT_EQ(known_.gang, "team/c");
  EXPECT_EQ(known_.groups[0].bytes, 1200u);
  See("team/c", 1e9 + 2000, 2000);
  EXPECT_EQ(known_.runs, 1) << "the same run has changed what it calls";
  EXPECT_EQ(known_.groups[0].bytes, 2000u);
}

// Nodes report a job for a while after its end, beside the one that follows it.
TEST_F(CountRunTest, AnEarlierRunChangesNothing) {
  See("team/b", 1e9 + 1000);
  for (int i = 0; i < 3; ++i) {
    See("team/a", 1e9);
    See("team/a", 1e9, 9999);
    See("team/b", 1e9 + 1000);
  }
  EXPECT_EQ(known_.runs, 1);
  EXPECT_EQ(known_.gang, "team/b");
}

TEST_F(CountRunTest, WhatIsNotCompleteChangesNothing) {
  See("team/a", 1e9, 1000, false);
  EXPECT_EQ(known_, Communication{});
  See("team/a", 1e9);
  See("team/b", 1e9 + 1000, 7, false);
  EXPECT_EQ(known_.gang, "team/a");
  CountRun({.names = {}, .groups = {}}, {.gang = "team/c", .began_s = 2e9, .at_s = 2e9}, &known_);
  EXPECT_EQ(known_.gang, "team/a") << "a run that calls nothing says nothing";
}

TEST_F(CountRunTest, TheComputeOfPodsIsOfTheRunThatCountedLast) {
  const JobProfile::Run a{.gang = "team/a", .began_s = 1e9, .at_s = 1e9 + 100};
  KeepCompute({0.1, 0.2}, a, &known_);
  EXPECT_THAT(known_.compute_s, IsEmpty()) << "nothing is known of its calls";
  See("team/a", 1e9);
  KeepCompute({0.1, 0.2}, a, &known_);
  EXPECT_THAT(known_.compute_s, ElementsAre(0.1, 0.2));
  KeepCompute({0.105, 0.2}, a, &known_);
  EXPECT_THAT(known_.compute_s, ElementsAre(0.1, 0.2)) << "noise";
  KeepCompute({0.15, 0.2}, a, &known_);
  EXPECT_THAT(known_.compute_s, ElementsAre(0.15, 0.2));
  KeepCompute({}, a, &known_);
  KeepCompute({0.1, 0.2, 0.3}, a, &known_);
  KeepCompute({0.9, 0.9}, {.gang = "team/b", .began_s = 1e9, .at_s = 1e9 + 100}, &known_);
  EXPECT_THAT(known_.compute_s, ElementsAre(0.15, 0.2));
  See("team/b", 1e9 + 1000);
  EXPECT_EQ(known_.runs, 2);
  EXPECT_THAT(known_.compute_s, ElementsAre(0.15, 0.2)) << "until that of the new run is known";
  See("team/c", 1e9 + 2000, 9999);
  EXPECT_THAT(known_.compute_s, IsEmpty()) << "it is another job";
}

TEST(ComputeOfPodsTest, IsThatOfTheLongestRankOnAGpuOfSpeedOne) {
  const auto rank = [](const char* pod, double compute_s, const char* model) {
    GpuNode::Rank made{.pod = pod, .compute_s = compute_s};
    made.model = model;
    return made;
  };
  GpuNode::Job one, other;
  one.ranks = {rank("a-0", 0.1, "slow"), rank("a-0", 0.3, "slow")};
  other.ranks = {rank("a-1", 0.1, "fast")};
  const std::vector<const GpuNode::Job*> nodes = {&one, &other};
  const std::map<std::string, double> speeds = {{"slow", 0.5}, {"fast", 2}};
  EXPECT_THAT(ComputeOfPods({"a-0", "a-1"}, nodes, speeds), ElementsAre(0.15, 0.2));
  EXPECT_THAT(ComputeOfPods({"a-0", "a-2"}, nodes, speeds), IsEmpty()) << "nothing is known of a-2";
  EXPECT_THAT(ComputeOfPods({"a-0", "a-1"}, nodes, {{"slow", 0.5}}), IsEmpty()) << "nor of one speed";
}

TEST(SpeedsOfPodsTest, IsThatOfThePodsSlowestGpu) {
  const auto rank = [](const char* pod, const char* model) {
    GpuNode::Rank made{.pod = pod};
    made.model = model;
    return made;
  };
  GpuNode::Job one, other;
  one.ranks = {rank("a-0", "fast"), rank("a-0", "slow"), rank("a-1", "fast")};
  other.ranks = {rank("a-2", "fast"), rank("a-2", "not named")};
  const std::vector<const GpuNode::Job*> nodes = {&one, &other};
  EXPECT_THAT(SpeedsOfPods({"a-1", "a-0", "a-2", "a-3"}, nodes, {{"slow", 0.5}, {"fast", 2}}),
              ElementsAre(2, 0.5, 0, 0));
}

TEST(AgreeTest, PodsFunctionsAndMembersAreTheSameAndBytesNearly) {
  const Communication one{.pods = 2, .groups = {{kAllReduce, {0, 1}, 1000}}};
  const auto with = [&one](const auto& change) {
    Communication other = one;
    change(other);
    return Agree(one, other) && Agree(other, one);
  };
  EXPECT_TRUE(with([](Communication& other) { other.runs = 7, other.gang = "g", other.began_s = 3; }));
  EXPECT_TRUE(with([](Communication& other) { other.groups[0].bytes = 1111; }));
  EXPECT_FALSE(with([](Communication& other) { other.groups[0].bytes = 1112; }));
  EXPECT_FALSE(with([](Communication& other) { other.pods = 3; }));
  EXPECT_FALSE(with([](Communication& other) { other.groups[0].function = kReduce; }));
  EXPECT_FALSE(with([](Communication& other) { other.groups[0].members = {1, 0}; }));
  EXPECT_FALSE(with([](Communication& other) { other.groups.push_back(other.groups[0]); }));
  EXPECT_FALSE(with([](Communication& other) { other.groups.clear(); }));
}

}  // namespace
}  // namespace crossover::extender
