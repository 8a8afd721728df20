// How a client takes its turn and gives it back: one interface, three transports.
#pragma once

#include <cudaTypedefs.h>

#include <cstdint>

#include "proto/turnstile.h"
#include "turn/ops.h"

namespace crossover::gates {

// Whom a release hands the turn to.
struct Handover {
  turn::SlotIndex successor = 0;
  std::uint32_t open = 0;  // value for the successor's gate
};

// Reads from the page, which anybody may have scribbled on, whom slot `self` should hand turn `k` to.
Handover ChooseHandover(const crossover_page* page, turn::SlotIndex self, turn::TurnNumber k);

// Opens the gate of slot `self` for whatever turn it asks for next, from the host.
void OpenOwnGate(crossover_page* page, turn::SlotIndex self, turn::TurnNumber about);

// The word that an operation is about.
std::uint32_t* WordOf(crossover_page* page, turn::SlotIndex slot, turn::Word word);

// Executes a write here and now, and wakes whoever waits for the word.
void WriteOnHost(crossover_page* page, const turn::Op& op);

class Gate {
 public:
  // Work queued on `stream` from now on belongs to turn `k`. False: nothing was queued.
  virtual bool Acquire(CUstream stream, turn::TurnNumber k) = 0;

  // Work queued on `stream` so far was turn `k`. Never waits. False: nothing was queued.
  virtual bool Release(CUstream stream, turn::TurnNumber k, Handover handover) = 0;

  // A yield point between stretch `k` of a turn and the next, for gates that do not block. Never waits.
  // False: nothing was queued.
  virtual bool Yield(CUstream stream, turn::TurnNumber k) = 0;

  // Whether Acquire blocks its caller until the turn comes.
  virtual bool blocks() const = 0;

 protected:
  Gate() = default;
  Gate(const Gate&) = default;
  Gate& operator=(const Gate&) = default;
  ~Gate() = default;
};

}  // namespace crossover::gates
