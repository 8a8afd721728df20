#include <gtest/gtest.h>

#include "tests/unit/turn/explorer_expectations.h"

namespace crossover::turn::test {
namespace {

void ExpectFault(const ExplorerOptions& options) { EXPECT_TRUE(Explore(options).fault.has_value()); }

constexpr std::uint32_t kTurns = 2;

TEST(Explorer, TwoClientsTwoTurns) { ExpectNoFault({.clients = 2, .turns = 2}); }

TEST(Explorer, ThreeClients) { ExpectNoFault({.clients = 3, .turns = 1}); }

TEST(Explorer, OneOfTwoIsKilledAndItsLastWriteComesLate) {
  ExpectNoFault({.clients = 2, .turns = kTurns, .kills = 1, .late_writes = true});
}

// This test explores sixteen million states, which takes a minute.
TEST(Explorer, OneOfThreeIsKilledAndItsLastWriteComesLate) {
  ExpectNoFault({.clients = 3, .turns = 1, .kills = 1, .late_writes = true});
}

TEST(Explorer, TheWatchdogSuspendsAHolder) {
  ExpectNoFault({.clients = 2, .turns = 1, .kills = 1, .late_writes = true, .suspensions = 1});
}

TEST(Explorer, YieldPointsAndPreemption) { ExpectNoFault({.clients = 2, .turns = 1, .yields = 2}); }

TEST(Explorer, OneIsKilledAmongYieldPoints) {
  ExpectNoFault({.clients = 2, .turns = 1, .yields = 1, .kills = 1, .late_writes = true});
}

TEST(Explorer, TheWatchdogSuspendsAHolderAtAYieldPoint) {
  ExpectNoFault({.clients = 2, .turns = 1, .yields = 1, .suspensions = 1});
}

// The controls weaken one rule each. The explorer must find a fault in each.
TEST(ExplorerControl, BlindRevoke) { ExpectFault({.clients = 2, .turns = 2, .bad_blind_revoke = true}); }

TEST(ExplorerControl, SingleCollect) { ExpectFault({.clients = 2, .turns = 2, .bad_single_collect = true}); }

TEST(ExplorerControl, StoreInsteadOfSwap) { ExpectFault({.clients = 2, .turns = 2, .bad_blind_swap = true}); }

TEST(ExplorerControl, RelBeforeGate) { ExpectFault({.clients = 2, .turns = 2, .bad_rel_before_gate = true}); }

TEST(ExplorerControl, RelBeforeReadyAtAYieldPoint) {
  ExpectFault({.clients = 2, .turns = 1, .yields = 1, .bad_rel_before_ready = true});
}

// This control shows why a client only waits for a word that the arbiter can swap.
TEST(ExplorerControl, GateThatTheArbiterCannotShut) {
  const ExplorerResult result = Explore({.clients = 2, .turns = 2, .bad_gate_copy = true});
  EXPECT_TRUE(result.fault.value_or("").starts_with("two clients hold the turn"))
      << result.fault.value_or("");
}

TEST(ExplorerControl, BlindPreemption) {
  ExpectFault({.clients = 2, .turns = 1, .yields = 1, .bad_blind_revoke = true});
}

}  // namespace
}  // namespace crossover::turn::test
