// Carries out the operations of a turn on a thread of this process instead of a stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"
#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "turn/ops.h"

namespace crossover::gates {

// The arbiter changes its beat at every pass, at least ten times a second. Once its beat has stood still for
// this long, in ns, it counts as gone.
inline constexpr std::int64_t kPatienceNs = base::kNsPerSecond;

// Blocks until *word is at or past `value`, and returns true. Returns false at `deadline`, in ns of
// base::MonotonicNs(). If `beat` is not null, each change of `*beat` moves the deadline to kPatienceNs later:
// other clients may have their turns first.
bool WaitFor(const std::uint32_t* word, std::uint32_t value, const std::uint32_t* beat,
             std::int64_t deadline);

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

  // Blocks until the stream has reached the release of turn `k` at `page`, or until `deadline`, in ns of
  // base::MonotonicNs(). Returns at once if that release is not queued. REQUIRES: Queue() is not called
  // meanwhile.
  void Await(const crossover_page* page, turn::TurnNumber k, std::int64_t deadline) const;

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
