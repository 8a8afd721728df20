// Decides a vote, in the process of rank 0: narrow only if all ranks said the same, else plain. Pure: no
// socket, clock or thread. Allocates nothing. Not thread-safe.
//
// The caller greets each connection that it accepts while IsDecided() is false, tells what it reads, and does
// what each Step says. Once a vote is decided it accepts and greets no more. It keeps connections until their
// other ends close them, or a limit of its own is over: where bytes are unread, closing would destroy the
// verdict on its way.
//
// A verdict that cannot be sent changes nothing: the rank that lacks it does not continue.
#pragma once

#include <cstdint>
#include <span>

#include "shrink/vote/messages.h"
#include "shrink/vote/phases.h"

namespace crossover::shrink::vote {

// A Seat says what rank 0 knows of another rank.
enum class Seat : std::uint8_t {
  kSilent,
  kCounted  // its hello counts
};

struct Collector {
  // An Act says what the caller does.
  enum class Act : std::uint8_t {
    kNothing,
    kCount,    // the connection is from now on that of the rank in the hello
    kTellAll,  // the vote is decided: VerdictFor() goes to each connection that counts, with that of the last
               // hello; if the choice is plain, also to each other that was greeted, as for rank 0; the rest
               // is closed
    kTellOne,  // a plain verdict with the reason goes to this connection alone, which then is closed
    kClose     // this connection is closed
  };
  struct Step {
    Act act = Act::kNothing;
    Reason reason;  // of kTellAll if the choice is plain, of kTellOne and of kClose
  };

  // Begins a vote with the hello of rank 0, which needs no connection. `own_hello` stays
  // valid. REQUIRES: its rank is 0, and it has at least 2 ranks.
  explicit Collector(const Hello* own_hello) : own(own_hello), budget_mib(own_hello->proposal.budget_mib) {}

  // These tell what a connection brought. `seats` has one seat for each rank, silent at first.
  Step Hear(const Hello& hello, std::span<Seat> seats);
  Step Hear(const No& no);
  static Step Hear(const Broken& broken) { return {Act::kClose, broken.reason}; }
  // Tells that the connection of a rank that counts has ended. The end of any other connection has no
  // meaning.
  Step Lose(std::uint32_t rank);
  Step EndTime(std::span<const Seat> seats);

  // Returns the verdict for a rank. `reason` is the one with which the vote was decided.
  Verdict VerdictFor(std::uint32_t rank, const Reason& reason) const;

  const Hello* own;
  CollectorPhase phase = CollectorPhase::kGathers;
  std::uint32_t counted = 1;  // ranks whose hello counts, with rank 0
  std::uint32_t budget_mib;   // the least of them

 private:
  Step Note(CollectorEvent event, const Reason& reason);
};

}  // namespace crossover::shrink::vote
