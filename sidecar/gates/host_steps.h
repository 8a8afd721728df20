// Carries out the operations of a turn on a thread of this process instead of a stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "turn/ops.h"

namespace crossover::gates {

// Blocks until *word is at or past `value`, and returns true. Goes on waiting as long as `*beat` changes:
// other clients may have their turns first. Returns false once `*beat` has stood still for a second: the
// arbiter then counts as gone. If `beat` is null, waits for a second at most.
bool WaitFor(const std::uint32_t* word, std::uint32_t value, const std::uint32_t* beat);

// Executes `count` operations of turn `k` in their order. Blocks if one of them is a wait. If WaitFor() gives
// up on a gate, opens the gate of slot `self` and counts a fault on the page.
void CarryOut(crossover_page* page, turn::SlotIndex self, turn::TurnNumber k, const turn::Op* ops,
              std::size_t count);

// HostReleases queues releases as host functions, and knows which of them the streams have not reached yet.
class HostReleases {
 public:
  constexpr HostReleases() = default;

  // Queues the release of turn `k` behind the work that `stream` has so far. Returns false if nothing was
  // queued.
  bool Queue(const Driver& driver, CUstream stream, crossover_page* page, turn::SlotIndex self,
             turn::TurnNumber k, Handover handover);

  // Blocks until the stream has reached the release of turn `k` at `page`, for a second at most. Returns at
  // once if that release is not queued. REQUIRES: Queue() is not called meanwhile.
  void Await(const crossover_page* page, turn::TurnNumber k) const;

 private:
  // A host cannot be this many turns ahead of its GPU: a driver queues about 1024 pieces of work, and a turn
  // has several.
  static constexpr std::size_t kPending = 512;

  // A Pending is one release that is queued.
  struct Pending {
    crossover_page* page = nullptr;
    turn::SlotIndex self = 0;
    turn::TurnNumber k = 0;
    Handover handover;
    std::uint32_t queued = 0;  // set by the user's threads under their lock, cleared by the host function
  };

  static void CUDA_CB GiveBack(void* pending);

  Pending pending_[kPending] = {};
};

}  // namespace crossover::gates
