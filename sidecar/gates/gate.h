// Defines how a client takes its turn and gives it back: one interface with three transports (GPU gates,
// relayed gates, host gates).
#pragma once

#include <cudaTypedefs.h>

#include <cstdint>

#include "proto/turnstile.h"
#include "turn/ops.h"

namespace crossover::gates {

// A Handover says which client a release hands the turn to.
struct Handover {
  turn::SlotIndex successor = 0;
  std::uint32_t open = 0;  // value for the successor's gate
};

// Returns the client that slot `self` hands turn `k` to, as the page says. Any client may have written
// anything to the page: an invalid successor becomes `self`.
Handover ChooseHandover(const crossover_page* page, turn::SlotIndex self, turn::TurnNumber k);

// Returns the handover of turn `k` of slot `self` to itself: the next turn begins without another client in
// between.
Handover KeepTurn(turn::SlotIndex self, turn::TurnNumber k);

// Opens the gate of slot `self` from the host, for any turn that the slot asks for next. `about` is a turn
// near that one. Wakes the threads that wait for the gate.
void OpenOwnGate(crossover_page* page, turn::SlotIndex self, turn::TurnNumber about);

// Returns the address of `word` in the line of `slot`. REQUIRES: `slot` < CROSSOVER_MAX_CLIENTS.
std::uint32_t* WordOf(crossover_page* page, turn::SlotIndex slot, turn::Word word);

// Carries out the write `op` on the host, at once, and wakes the threads that wait for the word.
void WriteOnHost(crossover_page* page, const turn::Op& op);

// A Gate takes the turns of one client and gives them back. Not thread-safe: one thread at a time calls it.
class Gate {
 public:
  // Takes turn `k`: work that is queued on `stream` from now on belongs to it. Returns false if nothing was
  // queued.
  virtual bool Acquire(CUstream stream, turn::TurnNumber k) = 0;

  // Gives turn `k` back after the work that is queued on `stream` so far. Never waits. Returns false if
  // nothing was queued.
  virtual bool Release(CUstream stream, turn::TurnNumber k, Handover handover) = 0;

  // Queues a yield point between stretch `k` of a turn and the next stretch. Never waits. Returns false if
  // nothing was queued. REQUIRES: the gate does not block.
  virtual bool Yield(CUstream stream, turn::TurnNumber k) = 0;

  // Returns whether Acquire() blocks its caller until the turn comes.
  virtual bool blocks() const = 0;

 protected:
  Gate() = default;
  Gate(const Gate&) = default;
  Gate& operator=(const Gate&) = default;
  ~Gate() = default;
};

}  // namespace crossover::gates
