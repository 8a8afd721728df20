// Takes part in a vote, in the process of each rank but rank 0. Pure: no socket, clock or thread. Allocates
// nothing. Not thread-safe.
//
// The caller connects to the process of rank 0, tells what happens, and does what each Step says, until
// HasEnded(). It then closes the connection. Only the phase says whether the rank continues, and how.
#pragma once

#include <cstdint>

#include "shrink/vote/messages.h"
#include "shrink/vote/phases.h"

namespace crossover::shrink::vote {

struct Voter {
  // An Act says what the caller sends.
  enum class Act : std::uint8_t { kNothing, kSayHello, kSayNotReady, kSayOtherVersion };
  struct Step {
    Act act = Act::kNothing;
    Reason reason;  // why the rank runs plain or fails; empty while it does not, and if it is narrowed
  };

  // Begins with what the rank would say. `own_hello` stays valid. A rank that is not ready says no, so that
  // the others need not wait for it.
  Voter(const Hello* own_hello, bool is_ready) : own(own_hello), ready(is_ready) {}

  Step Hear(const Greeting& greeting);
  Step Hear(const Verdict& verdict);
  Step Hear(const Broken& broken);
  Step Unreachable();
  // Tells that the hello was not sent as a whole. A no that is not sent has no meaning.
  Step FailToSend();
  Step Lose();
  Step EndTime();

  const Hello* own;
  bool ready;
  VoterPhase phase = VoterPhase::kConnects;
  std::uint32_t budget_mib = 0;  // in kNarrow: the least of all ranks

 private:
  Step Note(VoterEvent event, const Reason& reason);
};

}  // namespace crossover::shrink::vote
