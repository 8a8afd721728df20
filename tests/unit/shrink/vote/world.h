// Defines a state of the explorer of votes, and the steps that lead from it. The decisions are those of the
// shipped vote::Collector and vote::Voter.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "shrink/vote/collector.h"
#include "shrink/vote/voter.h"

namespace crossover::shrink::vote::test {

inline constexpr std::uint32_t kMostVoters = 4;  // with rank 0

// A Kind says what a rank brings. Rank 0 is kReady or kNoFile.
enum class Kind : std::uint8_t { kReady, kNoFile, kOtherCodec, kNotReady, kOtherVersion };

// A BadRule is a known-bad variant of the vote, which the explorer has to find.
enum class BadRule : std::uint8_t {
  kNone,
  kNarrowAtTimeLimit,      // rank 0 narrows with the ranks that said hello in time
  kNarrowByMajority,       // rank 0 narrows once more than half of the ranks said hello
  kPlainWhenLost,          // a rank that said hello and lost its connection runs plain
  kPlainWhenSendFails,     // likewise where its hello could not be sent as a whole
  kPlainAtTimeLimit,       // likewise where no verdict has come in time
  kChangesItsMind,         // rank 0 tells the rest plain if a connection is lost after it decided to narrow
  kCountsNo,               // rank 0 takes a no for a hello
  kCountsTwice,            // rank 0 counts a second hello of the same rank
  kBudgetOfEach,           // the verdict has each rank's own budget in place of the least
  kClosesUnread,           // rank 0 tells plain only to ranks whose hello it has read
  kNoLimitOfVoters,        // a rank waits for its verdict without a limit
  kNoLimitOfTheCollector,  // rank 0 waits for hellos without a limit
};

// Says what a vote has in it. What is true may happen at any step.
struct Options {
  std::array<Kind, kMostVoters> kinds{};  // by rank
  std::uint32_t ranks = 2;
  bool losses = false;         // each connection may end; what is on its way may arrive before, or be lost
  bool send_failures = false;  // a send may fail; what was sent may arrive all the same
  bool deaths = false;         // each process may die
  bool stops = false;          // each process may stop, without an end of its connections
  bool unreachable = false;    // a connection to rank 0 may be refused
  bool collector_limit = false;
  bool voter_limits = false;
  // A process that knows the communicator's ID says once what this rank would say; 0: there is none.
  std::uint32_t impostor = 0;
  BadRule bad = BadRule::kNone;

  // Returns the same with all faults and time limits.
  Options WithFaults() const;
};

enum class Message : std::uint8_t { kNone, kGreeting, kPlain, kNarrow, kHello = kGreeting, kNo = kPlain };

// A Link is the connection of a rank with rank 0.
struct Link {
  bool connected = false;
  bool greeted = false;
  bool counted = false;  // rank 0 knows that it is that of a rank that said hello
  bool told = false;     // rank 0 has sent the verdict
  bool broken = false;   // it has ended, and each end may notice that
  bool closed = false;   // rank 0 has noticed so, or closed it
  bool unsent = false;   // the rank is about to hear that its hello was not sent
  std::array<Message, 2> to_rank{};
  Message to_collector = Message::kNone;
  std::uint8_t budget = 0;  // of the verdict on its way
};

struct Key {
  std::uint64_t a = 0, b = 0;
  friend bool operator==(const Key&, const Key&) = default;
};

// A World is one state. Index 0 of `voter` and `link` has no meaning. A rank that has died or stopped before
// it continued is in the phase kFailed: no event changes that. The link of one that has died is broken.
struct World {
  Collector collector;
  std::array<Voter, kMostVoters> voter;
  std::array<Seat, kMostVoters> seats{};
  std::array<Link, kMostVoters> link{};
  bool collector_runs = true;   // rank 0 has not died or stopped
  bool collector_dead = false;  // it has died
  bool impostor_spoke = false;
};

// A Model has what does not change between the states.
class Model {
 public:
  explicit Model(const Options& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  World Start() const;
  // Calls `visit` with each state that one step leads to. Returns whether one of the steps is no fault.
  bool ForEachNext(const World& world, const std::function<void(const World&)>& visit) const;

  // Returns the phase of a rank, as that of a voter. A rank that has continued stays so if it dies: it may
  // have used the communicator before.
  VoterPhase PhaseOf(const World& world, std::uint32_t rank) const;
  // Returns the budget with which a rank is narrowed.
  std::uint32_t BudgetOf(const World& world, std::uint32_t rank) const;
  // Returns the number of the state. No two states have the same.
  Key KeyOf(const World& world) const;
  std::uint32_t ranks() const { return options_.ranks; }
  const Options& options() const { return options_; }

 private:
  class Steps;
  bool HasFile(std::uint32_t rank) const { return options_.kinds[rank] != Kind::kNoFile; }

  const Options options_;
  std::array<Hello, kMostVoters> hello_;
};

}  // namespace crossover::shrink::vote::test
