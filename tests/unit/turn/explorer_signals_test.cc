#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/unit/turn/explorer_expectations.h"
#include "turn/signal.h"

namespace crossover::turn::test {
namespace {

void ExpectFault(const ExplorerOptions& options, const std::string& what) {
  const std::string fault = Explore(options).fault.value_or("no fault");
  EXPECT_TRUE(fault.starts_with(what)) << fault;
}

constexpr char kTwoHolders[] = "two clients hold the turn";
constexpr char kWaitForGood[] = "no progress";

// With signals of any value at any time the page's words go through all that they can go through. The worlds
// in which writes to kept signals land late are larger: the soak explores them.
TEST(SignalExplorer, TwoClientsWithAnySignals) {
  ExpectNoFault({.clients = 2, .turns = 2, .signals = Signals::kAny});
}

TEST(SignalExplorer, OneIsKilledAmongAnySignals) {
  ExpectNoFault({.clients = 2, .turns = 1, .kills = 1, .late_writes = true, .signals = Signals::kAny});
}

TEST(SignalExplorer, YieldPointsAmongAnySignals) {
  ExpectNoFault({.clients = 2, .turns = 1, .yields = 1, .signals = Signals::kAny});
}

TEST(SignalExplorer, TheWatchdogSuspendsAHolderAmongAnySignals) {
  ExpectNoFault({.clients = 2, .turns = 1, .suspensions = 1, .signals = Signals::kAny});
}

TEST(SignalExplorer, TheArbiterDiesAmongAnySignals) {
  ExpectNoFault({.clients = 2, .turns = 1, .kills = 1, .arbiter_dies = true, .signals = Signals::kAny});
}

// With signals that keep what is written, each state of them follows from what the clients and the signaller
// did. No wait lasts forever, however slow the signaller is, and whenever it is killed and starts over.
TEST(SignalExplorer, ASignallerThatFollowsThePage) {
  ExpectNoFault({.clients = 2, .turns = 1, .signals = Signals::kKept});
}

TEST(SignalExplorer, OneIsKilledAndTheSignallerFollows) {
  ExpectNoFault({.clients = 2, .turns = 1, .kills = 1, .signals = Signals::kKept});
}

TEST(SignalExplorer, TheArbiterDiesAndTheSignallerFollows) {
  ExpectNoFault({.clients = 2, .turns = 1, .arbiter_dies = true, .signals = Signals::kKept});
}

TEST(SignalExplorer, ClientsGoOnWhileTheSignallerLooks) {
  ExpectNoFault({.clients = 2, .turns = 1, .signals = Signals::kKept, .torn_looks = true});
}

// A signaller that only hears of the gates that CPUs open does while nothing else goes wrong.
TEST(SignalExplorer, ASignallerThatWakesDoesWithoutFaults) {
  ExpectNoFault({.clients = 2, .turns = 1, .signals = Signals::kKept, .signaller = Signaller::kWakes});
}

// Each control weakens one rule, and the explorer must find a fault in it.
TEST(SignalExplorerControl, AClientThatGoesInByItsSignalAlone) {
  ExpectFault({.clients = 2, .turns = 1, .signals = Signals::kKept, .bad_signal_alone = true}, kTwoHolders);
  ExpectFault({.clients = 2, .turns = 1, .signals = Signals::kAny, .bad_signal_alone = true}, kTwoHolders);
}

TEST(SignalExplorerControl, NoSignaller) {
  ExpectFault({.clients = 2, .turns = 1, .signals = Signals::kKept, .signaller = Signaller::kDead},
              kWaitForGood);
}

TEST(SignalExplorerControl, AWriterIsKilledBetweenGateAndSignal) {
  ExpectFault(
      {.clients = 2, .turns = 1, .kills = 1, .signals = Signals::kKept, .signaller = Signaller::kWakes},
      kWaitForGood);
}

TEST(SignalExplorerControl, TheOrderOfTheTwoMemoriesIsBroken) {
  ExpectFault({.clients = 2,
               .turns = 2,
               .signals = Signals::kKept,
               .signaller = Signaller::kWakes,
               .late_signals = true},
              kWaitForGood);
}

// The reset erases the signal of a gate that another client has opened meanwhile. That takes a second token:
// a holder that the watchdog has suspended.
TEST(SignalExplorerControl, AGateIsShutBeforeItsSignalIsReset) {
  ExpectFault({.clients = 2,
               .turns = 2,
               .suspensions = 1,
               .signals = Signals::kKept,
               .signaller = Signaller::kWakes,
               .bad_shut_before_reset = true},
              kWaitForGood);
}

TEST(SignalExplorerControl, GatesInMemoryThatAClientExportsAndFrees) {
  ExpectFault({.clients = 2, .turns = 1, .kills = 1, .bad_exported_gates = true}, kWaitForGood);
}

// The arbiter opens a gate, and it dies together with the signaller: what record 0054 says of two deaths.
// While the arbiter lives, the same signaller does.
TEST(SignalExplorerControl, TheArbiterAndTheSignallerDieAtOnce) {
  ExplorerOptions options{
      .clients = 2, .turns = 1, .signals = Signals::kKept, .signaller = Signaller::kDiesWithArbiter};
  ExpectNoFault(options);
  options.arbiter_dies = true;
  ExpectFault(options, kWaitForGood);
}

template <std::size_t kCount>
std::vector<std::string> Shown(const std::array<Op, kCount>& ops) {
  std::vector<std::string> shown;
  for (const Op& op : ops) {
    shown.push_back(std::to_string(static_cast<int>(op.kind)) + " " +
                    std::to_string(static_cast<int>(op.word)) + " " + std::to_string(op.slot) + " " +
                    std::to_string(op.value));
  }
  return shown;
}

template <std::size_t kCount>
std::vector<std::string> ShownOnPage(const std::array<SignalledOp, kCount>& ops) {
  std::vector<std::string> shown;
  for (const SignalledOp& op : ops) {
    if (op.target == SignalledOp::Target::kPage) shown.push_back(Shown(std::array{op.op})[0]);
  }
  return shown;
}

TEST(SignalledOps, OnThePageTheyAreThoseWithoutSignals) {
  const TurnNumber k = FirstStretch(7) + 2;
  EXPECT_EQ(ShownOnPage(AcquireBySignal(3, k)), Shown(Acquire(3, k)));
  EXPECT_EQ(ShownOnPage(YieldBySignal(3, k)), Shown(Yield(3, k)));
  EXPECT_EQ(ShownOnPage(ReleaseBySignal(3, k, 5, 99)), Shown(Release(3, k, 5, 99)));
}

TEST(IsDue, AGateThatLetsItsClientIn) {
  const TurnNumber held = FirstStretch(4);
  const TurnNumber next = FirstStretch(5);
  struct {
    const char* what;
    GateView view;
    bool due;
  } const cases[] = {
      {"an empty slot", {0, 0, 0}, false},
      {"waits at a shut gate", {next, held, LastStretch(held)}, false},
      {"waits at a gate that a client opened", {next, held, OpenFor(1, 9, 0, next)}, true},
      {"waits at a gate that the arbiter opened", {next, held, next}, true},
      {"is away, and a token is parked", {held, held, next}, true},
      {"is away", {held, held, LastStretch(held)}, false},
      {"has its turn, and its gate stays open for the turn's stretches",
       {held, held, LastStretch(held)},
       false},
      {"waits at a yield point that the arbiter has shut", {held + 1, held, held - 1}, false},
      {"waits at a yield point, and is let in", {held + 1, held, held + 1}, true},
      {"numbers wrap", {FirstStretch(0), FirstStretch(0x3fffff), FirstStretch(0)}, true},
  };
  for (const auto& c : cases) EXPECT_EQ(IsDue(c.view), c.due) << c.what;
}

}  // namespace
}  // namespace crossover::turn::test
