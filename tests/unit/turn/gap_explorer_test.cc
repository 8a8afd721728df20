// Explores jobs that take a turn between each two gaps, and finds the ways of keeping gaps that end in a
// deadlock (docs/design/0060-turns-at-every-gap.md).
#include "tests/unit/turn/gap_explorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace crossover::turn::test {
namespace {

constexpr std::uint64_t kWalks = 2000, kStates = 20'000'000;

void ExpectAllEnd(const GapProgram& program, const GapOptions& options = {}) {
  const GapResult result = ExploreGaps(program, options, kStates);
  EXPECT_EQ(result.fault.value_or(""), "");
  EXPECT_TRUE(result.complete) << result.states;
  EXPECT_GT(result.standing, 100u);
  EXPECT_GT(result.kept, 100u);
}

void ExpectStuck(const GapProgram& program, const GapOptions& options) {
  const GapResult result = ExploreGaps(program, options);
  EXPECT_TRUE(result.fault.value_or("").starts_with("no rank can go on"))
      << result.fault.value_or("no fault");
}

// Makes jobs like FSDP without prefetch: each layer waits for its weights.
GapProgram Layers() { return AlikeRanks(2, 2, {Compute(), Call(0), WaitFor(0), Compute()}); }

// Makes jobs like DDP, or FSDP with prefetch: compute follows the call, and the wait comes later.
GapProgram Prefetch() { return AlikeRanks(2, 2, {Compute(), Call(0), Compute(), WaitFor(0), Compute()}); }

// Makes two pipelines of two stages, which send a batch forth and its gradient back.
GapProgram Pipelines() {
  GapProgram program;
  program.gpus = 2;
  program.collectives.resize(4);
  for (std::uint8_t job = 0; job < 2; ++job) {
    const int forth = 2 * job, back = forth + 1;
    program.ranks.push_back({0, job, {Compute(), Call(forth), Call(back), WaitFor(back), Compute()}});
    program.ranks.push_back({1, job, {Call(forth), WaitFor(forth), Compute(), Call(back)}});
  }
  return program;
}

// Makes the same with two batches: the second stage waits in the middle of its work.
GapProgram LongPipelines() {
  GapProgram program;
  program.gpus = 2;
  program.collectives.resize(8);
  for (std::uint8_t job = 0; job < 2; ++job) {
    const int first = 4 * job;  // forth, forth, back, back
    program.ranks.push_back({0, job, {Compute(), Call(first), Compute(), Call(first + 1)}});
    program.ranks.push_back({1, job, {}});
    for (int batch = 0; batch < 2; ++batch) {
      const int forth = first + batch, back = first + 2 + batch;
      std::vector<GapItem>& one = program.ranks.end()[-2].items;
      one.insert(one.end(), {Call(back), WaitFor(back), Compute()});
      std::vector<GapItem>& other = program.ranks.back().items;
      other.insert(other.end(), {Call(forth), WaitFor(forth), Compute(), Call(back)});
    }
  }
  return program;
}

// Makes jobs whose ranks call two collectives, on streams of their own, in crossed order.
GapProgram Crossed() {
  GapProgram program;
  program.gpus = 2;
  for (std::uint8_t job = 0; job < 2; ++job) {
    const int x = 2 * job, y = x + 1;
    program.collectives.push_back({0});
    program.collectives.push_back({1});
    program.ranks.push_back({0, job, {Compute(), Call(x), Call(y), WaitFor(x), WaitFor(y), Compute()}});
    program.ranks.push_back({1, job, {Compute(), Call(y), Call(x), WaitFor(y), WaitFor(x), Compute()}});
  }
  return program;
}

TEST(GapExplorer, WeightsThatAreWaitedForAtOnce) { ExpectAllEnd(Layers()); }

TEST(GapExplorer, PipelinesWhoseRanksDiffer) { ExpectAllEnd(Pipelines()); }

TEST(GapExplorer, UnlikeJobs) {
  GapProgram program = Pipelines();
  for (GapRank& rank : program.ranks) {
    if (rank.job == 1) rank.items = {Compute(), Call(2), WaitFor(2), Compute()};
  }
  ExpectAllEnd(program);
}

// A release in front of its call stands behind no collective, so a shared channel does not matter.
TEST(GapExplorer, AReleaseInFrontOfItsCallNeedsNoChannelOfItsOwn) {
  ExpectAllEnd(Layers(), {.channels = true});
}

TEST(GapExplorer, ComputeBetweenTheCallAndItsWait) { ExpectAllEnd(Prefetch()); }

TEST(GapExplorer, TwoCommunicatorsInCrossedOrder) { ExpectAllEnd(Crossed()); }

TEST(GapExplorer, OneOfFourIsKilled) {
  ExpectAllEnd(AlikeRanks(2, 2, {Compute(), Call(0), WaitFor(0)}), {.kills = 1, .late_writes = true});
}

TEST(GapExplorerControl, AKeepsOnOneGpuAndBOnAnother) {
  ExpectStuck(Layers(), {.rule = GapRule::kSomeKeep});
  ExpectStuck(LongPipelines(), {.rule = GapRule::kSomeKeep});
}

// Each rank keeps its second gap, or releases it, as it has learned that the gap is short.
TEST(GapExplorerControl, RanksChooseWhichShortGapsTheyKeep) {
  const GapProgram program =
      AlikeRanks(2, 2, {Compute(), Call(0), WaitFor(0), Compute(), Call(1), WaitFor(1), Compute()});
  ExpectStuck(program, {.rule = GapRule::kEachChoosesToKeep, .choices = {2, 0, 0, 2}});
}

TEST(GapExplorerControl, AllGapsAreKept) { ExpectStuck(Layers(), {.rule = GapRule::kAllKeep}); }

TEST(GapExplorerControl, ATurnLastsUntilItsCollectiveHasEnded) {
  ExpectStuck(Layers(), {.rule = GapRule::kAfterWaits});
  ExpectStuck(LongPipelines(), {.rule = GapRule::kAfterWaits});
}

TEST(GapExplorerControl, AReleaseBehindItsCallInOneChannel) {
  ExpectStuck(Layers(), {.rule = GapRule::kBehindTheCall, .channels = true});
  ExpectStuck(Prefetch(), {.channels = true});  // the shipped rule
}

// Executes a program without turns. Its calls and waits alone must not stop it.
bool EndsByItself(const GapProgram& program) {
  GapProgram calls = program;
  for (GapRank& rank : calls.ranks) {
    std::erase_if(rank.items, [](const GapItem& item) { return item.kind == GapItem::Kind::kCompute; });
  }
  return !WalkGaps(calls, {}, 1).fault;
}

TEST(GapWalk, DrawnProgramsEndUnderDrawnSchedules) {
  std::uint64_t kept = 0, standing = 0;
  for (std::uint64_t seed = 1; seed <= kWalks; ++seed) {
    const GapProgram program = DrawProgram(seed);
    ASSERT_TRUE(EndsByItself(program)) << seed;
    const GapResult result = WalkGaps(program, {.kills = static_cast<std::uint8_t>(seed % 2)}, seed);
    ASSERT_EQ(result.fault.value_or(""), "") << seed;
    kept += result.kept;
    standing += result.standing;
  }
  EXPECT_GT(kept, kWalks);
  EXPECT_GT(standing, kWalks);
}

TEST(GapWalkControl, EachKnownBadRuleStopsSomeSchedule) {
  for (const GapRule rule : {GapRule::kSomeKeep, GapRule::kEachChoosesToKeep, GapRule::kAllKeep,
                             GapRule::kAfterWaits, GapRule::kBehindTheCall}) {
    GapOptions options{.rule = rule, .channels = rule == GapRule::kBehindTheCall};
    std::uint64_t stuck = 0;
    for (std::uint64_t seed = 1; seed <= kWalks; ++seed) {
      options.choices.assign(GapWorld::kMaxRanks, 0x5a5a5a5au * static_cast<std::uint32_t>(seed));
      const std::string fault = WalkGaps(DrawProgram(seed), options, seed).fault.value_or("");
      stuck += fault.starts_with("no rank can go on");
    }
    EXPECT_GT(stuck, 0u) << static_cast<int>(rule);
  }
}

}  // namespace
}  // namespace crossover::turn::test
