// The operations of a turn, carried out by a thread of this process instead of a stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "turn/ops.h"

namespace crossover::gates {

// Waits until *word is at or past `value`, as long as `beat` moves: a waiter may wait for the turns of
// everybody before it, and only an arbiter that stands still for a second is taken for gone. False: it is.
// Null: for a second at most.
bool WaitFor(const std::uint32_t* word, std::uint32_t value, const std::uint32_t* beat);

// Carries out `count` operations of turn `k` in their order. A gate that nobody opens is opened from here,
// and counted as a fault. Blocks where one of them is a wait.
void CarryOut(crossover_page* page, turn::SlotIndex self, turn::TurnNumber k, const turn::Op* ops,
              std::size_t count);

// Releases by host functions: what a stream has queued of them, and how far it is.
class HostReleases {
 public:
  constexpr HostReleases() = default;

  // Queues the release of turn `k` behind what `stream` has so far. False: nothing was queued.
  bool Queue(const Driver& driver, CUstream stream, crossover_page* page, turn::SlotIndex self,
             turn::TurnNumber k, Handover handover);

  // Where the release of turn `k` is queued, waits until the stream has come to it, for a second at most. Not
  // while another is queued.
  void Await(const crossover_page* page, turn::TurnNumber k) const;

 private:
  // More turns than a host can be ahead of its GPU: a driver queues about twice as many pieces of work, and a
  // turn has several.
  static constexpr std::size_t kPending = 512;

  struct Pending {
    crossover_page* page = nullptr;
    turn::SlotIndex self = 0;
    turn::TurnNumber k = 0;
    Handover handover;
    std::uint32_t queued = 0;  // written by the user's threads under their lock, and by the host function
  };

  static void CUDA_CB GiveBack(void* pending);

  Pending pending_[kPending] = {};
};

}  // namespace crossover::gates
