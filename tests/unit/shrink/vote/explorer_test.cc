// Explores votes of two, three and four ranks (docs/design/0072-shrink-vote.md).
#include "tests/unit/shrink/vote/explorer.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

namespace crossover::shrink::vote::test {
namespace {

// Returns each choice of kinds of `ranks` ranks, where rank 0 is ready, and of each two choices that differ
// in the order of the other ranks one.
std::vector<Options> EachChoice(std::uint32_t ranks) {
  std::vector<Options> choices = {{.ranks = ranks}};
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    std::vector<Options> longer;
    for (const Options& choice : choices) {
      const Kind least = rank == 1 ? Kind::kReady : choice.kinds[rank - 1];
      for (const Kind kind :
           {Kind::kReady, Kind::kNoFile, Kind::kOtherCodec, Kind::kNotReady, Kind::kOtherVersion}) {
        if (kind < least) continue;
        longer.push_back(choice);
        longer.back().kinds[rank] = kind;
      }
    }
    choices = longer;
  }
  return choices;
}

bool AllReady(const Options& options) { return options.kinds == std::array<Kind, kMostVoters>{}; }

// Expects that no choice has a state with a fault. Returns the number of states.
std::uint64_t ExploreAll(std::uint32_t ranks) {
  std::uint64_t states = 0, narrow = 0, plain = 0, failed = 0;
  for (const Options& choice : EachChoice(ranks)) {
    const Result result = Explore(choice.WithFaults());
    EXPECT_EQ(result.fault.value_or(""), "");
    EXPECT_EQ(result.all_narrow > 0, AllReady(choice));
    EXPECT_GT(result.all_plain, 0u);
    states += result.states;
    narrow += result.all_narrow;
    plain += result.all_plain;
    failed += result.some_fail;
  }
  std::printf("%u ranks: %llu states; ends: %llu all narrow, %llu all plain, %llu in which a rank fails\n",
              ranks, static_cast<unsigned long long>(states), static_cast<unsigned long long>(narrow),
              static_cast<unsigned long long>(plain), static_cast<unsigned long long>(failed));
  return states;
}

TEST(VoteExplorer, TwoRanks) { EXPECT_EQ(ExploreAll(2), 380u); }
TEST(VoteExplorer, ThreeRanks) { EXPECT_EQ(ExploreAll(3), 18'503u); }
TEST(VoteExplorer, FourRanks) { EXPECT_EQ(ExploreAll(4), 890'111u); }

// Rank 0 has no file, so that no process listens.
TEST(VoteExplorer, NoRankZero) {
  for (Options choice : EachChoice(3)) {
    choice.kinds[0] = Kind::kNoFile;
    const Result result = Explore(choice.WithFaults());
    EXPECT_EQ(result.fault.value_or(""), "");
    EXPECT_EQ(result.all_narrow, 0u);
  }
}

TEST(VoteExplorer, WithoutFaultsAllThatAgreeAreNarrowed) {
  for (std::uint32_t ranks = 2; ranks <= kMostVoters; ++ranks) {
    const Result result = Explore({.ranks = ranks});
    EXPECT_EQ(result.fault.value_or(""), "");
    EXPECT_GT(result.ends, 0u);
    EXPECT_EQ(result.all_narrow, result.ends);
  }
}

// Only faults make a rank fail: lateness and other choices do not.
TEST(VoteExplorer, WithoutFaultsNoRankFails) {
  for (std::uint32_t ranks = 2; ranks <= kMostVoters; ++ranks) {
    for (Options choice : EachChoice(ranks)) {
      choice.collector_limit = choice.unreachable = true;
      const Result result = Explore(choice);
      EXPECT_EQ(result.fault.value_or(""), "");
      EXPECT_EQ(result.some_fail, 0u);
      EXPECT_EQ(result.all_plain + result.all_narrow, result.ends);
    }
  }
}

// A process that knows the ID repeats what rank 1 says. Rank 2 has no file.
TEST(VoteExplorer, ARepeatedHelloStandsForNoOtherRank) {
  const Options choice{.kinds = {Kind::kReady, Kind::kReady, Kind::kNoFile}, .ranks = 3, .impostor = 1};
  EXPECT_EQ(Explore(choice.WithFaults()).fault.value_or(""), "");
}

// The controls break one rule each.
Result ExploreBad(BadRule bad, Options options) {
  options.bad = bad;
  return Explore(options);
}

void ExpectFault(const Result& result, const char* what) {
  EXPECT_TRUE(result.fault.value_or("").starts_with(what)) << result.fault.value_or("no fault");
}

constexpr const char* kDiverges = "two ranks continue with different verdicts";
constexpr const char* kNarrowedAlone = "narrowed beside a rank that is not";
constexpr const char* kNoEnd = "a rank does not end";

TEST(VoteExplorerControl, RankZeroNarrowsAtItsTimeLimit) {
  for (std::uint32_t ranks = 2; ranks <= kMostVoters; ++ranks)
    ExpectFault(ExploreBad(BadRule::kNarrowAtTimeLimit,
                           {.ranks = ranks, .unreachable = true, .collector_limit = true}),
                kDiverges);
}

TEST(VoteExplorerControl, RankZeroNarrowsByMajority) {
  for (std::uint32_t ranks = 3; ranks <= kMostVoters; ++ranks) {
    Options options{.ranks = ranks};
    options.kinds[ranks - 1] = Kind::kNoFile;
    ExpectFault(ExploreBad(BadRule::kNarrowByMajority, options), kDiverges);
    options.kinds[ranks - 1] = Kind::kOtherCodec;
    ExpectFault(ExploreBad(BadRule::kNarrowByMajority, options), kNarrowedAlone);
  }
}

TEST(VoteExplorerControl, ARankRunsPlainWhereItDoesNotKnow) {
  for (std::uint32_t ranks = 2; ranks <= kMostVoters; ++ranks) {
    const Options quiet{.ranks = ranks, .collector_limit = true};
    Options losses = quiet, deaths = quiet, send_failures = quiet, limits = quiet;
    losses.losses = deaths.deaths = send_failures.send_failures = limits.voter_limits = true;
    ExpectFault(ExploreBad(BadRule::kPlainWhenLost, losses), kDiverges);
    ExpectFault(ExploreBad(BadRule::kPlainWhenLost, deaths), kDiverges);
    ExpectFault(ExploreBad(BadRule::kPlainWhenSendFails, send_failures), kDiverges);
    ExpectFault(ExploreBad(BadRule::kPlainAtTimeLimit, limits), kDiverges);
    for (const Options& shipped : {quiet, losses, deaths, send_failures, limits})
      EXPECT_EQ(Explore(shipped).fault.value_or(""), "");
  }
}

TEST(VoteExplorerControl, RankZeroChangesItsMind) {
  for (std::uint32_t ranks = 3; ranks <= kMostVoters; ++ranks) {
    const Options options{.ranks = ranks, .losses = true, .collector_limit = true};
    ExpectFault(ExploreBad(BadRule::kChangesItsMind, options), kDiverges);
  }
}

TEST(VoteExplorerControl, RankZeroCountsWhatIsNoHello) {
  const Options no{.kinds = {Kind::kReady, Kind::kReady, Kind::kNotReady}, .ranks = 3};
  ExpectFault(ExploreBad(BadRule::kCountsNo, no), kDiverges);
  const Options twice{.kinds = {Kind::kReady, Kind::kReady, Kind::kNoFile}, .ranks = 3, .impostor = 1};
  ExpectFault(ExploreBad(BadRule::kCountsTwice, twice), kDiverges);
}

TEST(VoteExplorerControl, EachRankHasItsOwnBudget) {
  ExpectFault(ExploreBad(BadRule::kBudgetOfEach, {.ranks = 2}), kDiverges);
}

TEST(VoteExplorerControl, ATimeLimitIsMissing) {
  ExpectFault(ExploreBad(BadRule::kNoLimitOfVoters, Options{.ranks = 2}.WithFaults()), kNoEnd);
  const Options silent{.kinds = {Kind::kReady, Kind::kNoFile}, .ranks = 2};
  ExpectFault(ExploreBad(BadRule::kNoLimitOfTheCollector, silent.WithFaults()), kNoEnd);
}

TEST(VoteExplorerControl, RankZeroClosesWhatItHasNotRead) {
  EXPECT_EQ(Explore({.ranks = 3, .collector_limit = true}).some_fail, 0u);
  EXPECT_GT(ExploreBad(BadRule::kClosesUnread, {.ranks = 3, .collector_limit = true}).some_fail, 0u);
}

// The vote trusts each process that knows the communicator's ID, as NCCL does: one that speaks for a rank
// without the file lets the others narrow.
TEST(VoteExplorerControl, AnImpostorThatKnowsTheId) {
  const Options options{.kinds = {Kind::kReady, Kind::kReady, Kind::kNoFile}, .ranks = 3, .impostor = 2};
  ExpectFault(Explore(options), kDiverges);
}

}  // namespace
}  // namespace crossover::shrink::vote::test
