// Takes and gives back turns of one GPU: queues the gate's operations and ties the user's compute streams to
// them with an event of ours.
//
//   X ----*   (any other compute stream)        *---->
//         |                                     |
//   S ----*--release k-- ... --join--acquire----*---->   (the stream of the turn)
//
// Not thread-safe: its owner's lock. Every call is made in a user's thread.
#pragma once

#include <cudaTypedefs.h>

#include <atomic>
#include <cstdint>

#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "sidecar/phase/tracker.h"

namespace crossover::session {

class Turns {
 public:
  constexpr Turns() = default;

  // What is asked, and where. Before anything else but Detach().
  void SetUp(const gates::Driver* driver, CUcontext context);

  // From now on turns can be taken on `slot` of `page` through `gate`. `event` is ours to record at will.
  void Attach(crossover_page* page, turn::SlotIndex slot, gates::Gate* gate, CUevent event);
  void Detach();

  // Begins the next turn: work queued later on `stream`, on `launching` and on every compute stream belongs
  // to it. For gates that do not block. `capturing`: some stream of the process is being captured.
  bool Acquire(phase::StreamKey stream, phase::StreamKey launching, const phase::Tracker& tracker,
               bool capturing);

  // The same for gates that block, without the owner's lock; nothing else may be called meanwhile but
  // asked(). The turn is held once Began() was called, with the lock.
  bool WaitForTurn(phase::StreamKey stream);
  void Began(phase::StreamKey stream);

  // A yield point: what is queued from now on, as for Acquire, waits where the arbiter has asked for that,
  // and goes on otherwise. For gates that do not block.
  bool Yield(phase::StreamKey launching, const phase::Tracker& tracker);

  // Ends the turn behind everything queued so far on the compute streams.
  bool Release(const phase::Tracker& tracker, bool capturing);

  // Whether the turn is held and its stream was let in, as the page says.
  bool Let() const;

  // Whether the turn is held and nothing runs in it: every compute stream has caught up with its host. False
  // where that cannot be known.
  bool Idle(const phase::Tracker& tracker) const;

  // Ends an idle turn from here: there is nothing on the GPU to wait for.
  void ReleaseOnHost();

  // Whether the context answers with an error whatever is asked of it: nothing that was queued in it is done
  // any more. Not while a stream captures.
  bool ContextLost() const;

  // Whether another client of this GPU waits for its turn.
  bool OthersWait() const;

  // Whether the turn is held on the default stream of a thread other than this one, which nobody else can
  // name.
  bool OfAnotherThread() const;

  // The turn is over without a release: nobody waits for one any more.
  void Abandon() { holding_ = false; }

  bool holding() const { return holding_; }
  // The stream of the turn held.
  phase::StreamKey stream() const { return stream_; }
  // Whether what was refused last was refused by the gate itself, and not by something else of the driver's.
  bool gate_refused() const { return gate_refused_; }
  // What turns are taken through from now on; one that is held goes on, and is given back through it.
  void Change(gates::Gate* gate) { gate_ = gate; }
  bool blocks() const { return gate_ != nullptr && gate_->blocks(); }
  crossover_page* page() const { return page_; }
  turn::SlotIndex slot() const { return slot_; }
  std::uint64_t taken() const { return taken_; }

  // Number of the newest turn asked for; readable from any thread.
  turn::TurnNumber asked() const { return asked_.load(std::memory_order_acquire); }

  // Whether the stream is being captured: nothing of ours may be queued there.
  bool Capturing(phase::StreamKey stream) const;

 private:
  class Context;

  bool Usable(const phase::StreamState& other, CUstream stream, CUstream* handle) const;
  bool FanOut(CUstream stream, phase::StreamKey launching, const phase::Tracker& tracker) const;
  bool JoinOthers(CUstream stream, const phase::Tracker& tracker) const;

  const gates::Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  crossover_page* page_ = nullptr;
  gates::Gate* gate_ = nullptr;
  CUevent event_ = nullptr;
  turn::SlotIndex slot_ = 0;
  std::atomic<turn::TurnNumber> asked_{0};
  phase::StreamKey stream_ = 0;  // of the turn held
  bool holding_ = false;
  bool gate_refused_ = false;
  std::uint64_t taken_ = 0;
};

}  // namespace crossover::session
