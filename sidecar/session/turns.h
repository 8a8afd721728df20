// Takes and gives back turns of one GPU. Queues the gate's operations on one stream, S, and ties the user's
// other compute streams, X, to it with an event of the library.
//
//   X ----*   (any other compute stream)        *---->
//         |                                     |
//   S ----*--release k-- ... --join--acquire----*---->   (the stream of the turn)
//
// A client whose turns end at waits has turns of one stream, S alone: the others neither wait for its turn
// nor end it. If the comments below name every compute stream, such a turn has S in their place.
//
// Not thread-safe: the owner's lock guards it, except for asked() and where noted. Only a user's thread takes
// a turn or queues an operation.
#pragma once

#include <cudaTypedefs.h>

#include <atomic>
#include <cstdint>

#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "sidecar/phase/tracker.h"

namespace crossover::session {

// Turns is one client's place at the turnstile, and the turn that it holds.
class Turns {
 public:
  constexpr Turns() = default;

  // Sets the driver and the context. REQUIRES: called before anything else but Detach().
  void SetUp(const gates::Driver* driver, CUcontext context);

  // Attaches to `slot` of `page` and takes turns through `gate` from now on. `gate` may be null for a client
  // that never takes turns. Nothing else records `event`. REQUIRES: all of them live until Detach().
  void Attach(crossover_page* page, turn::SlotIndex slot, gates::Gate* gate, CUevent event);
  // Stops using the page and the gate.
  void Detach();
  // Says whether the next turn covers the stream alone on which it begins, or every compute stream. A turn
  // that is held ends as it began.
  void SetOneStream(bool one) { next_one_stream_ = one; }

  // Begins the next turn: work queued later on `stream`, on `launching` and on every compute stream belongs
  // to it. `capturing` says that some stream of the process is being captured. Returns false if an operation
  // could not be queued; then holding() says whether the turn has begun. REQUIRES: the gate does not block.
  bool Acquire(phase::StreamKey stream, phase::StreamKey launching, const phase::Tracker& tracker,
               bool capturing);

  // Asks for the next turn and blocks until it comes. Returns false if it could not be asked for. REQUIRES:
  // the gate blocks; the caller does not hold the owner's lock; nothing changes this object meanwhile.
  bool WaitForTurn(phase::StreamKey stream);
  // Records that the turn is held, and that it began on `stream`. REQUIRES: the owner's lock.
  void Began(phase::StreamKey stream);

  // Queues a yield point. Work that is queued later on the streams of the turn waits there if the arbiter has
  // shut the gate, and goes on otherwise. Returns false if an operation could not be queued. REQUIRES: the
  // gate does not block.
  bool Yield(phase::StreamKey launching, const phase::Tracker& tracker);

  // A Next says which client has the turn after this one: the successor that the page names, or this client
  // again.
  enum class Next : std::uint8_t { kSuccessor, kOwn };

  // Ends the turn after everything that is queued so far on the compute streams. Returns false if an
  // operation could not be queued; the client then still holds the turn.
  bool Release(const phase::Tracker& tracker, bool capturing, Next next);

  // Returns whether the client holds a turn into which, by the page, the gate has let its stream.
  bool Let() const;

  // Returns whether the client holds a turn and nothing runs in it: every compute stream has done all that
  // the host has queued. Returns false if that cannot be known.
  bool Idle(const phase::Tracker& tracker) const;

  // Ends an idle turn from the host, as there is nothing on the GPU to wait for.
  void ReleaseOnHost();

  // Returns whether the context is lost: it answers every call with an error, and the GPU does nothing more
  // of what was queued in it. REQUIRES: no stream is being captured.
  bool ContextLost() const;

  // Returns whether another client of this GPU waits for its turn.
  bool OthersWait() const;

  // Returns whether the turn is held on the default stream of another thread, which only that thread can
  // name.
  bool OfAnotherThread() const;

  // Drops the turn without a release. The arbiter's watchdog takes the token.
  void Abandon() { holding_ = false; }

  bool holding() const { return holding_; }
  // Returns the stream of the turn held.
  phase::StreamKey stream() const { return stream_; }
  // Returns whether the last refusal came from the gate itself, and not from another call of the driver.
  bool gate_refused() const { return gate_refused_; }
  // Takes turns through `gate` from now on. A turn that is held goes on, and Release() gives it back by
  // `gate`.
  void Change(gates::Gate* gate) { gate_ = gate; }
  bool blocks() const { return gate_ != nullptr && gate_->blocks(); }
  crossover_page* page() const { return page_; }
  turn::SlotIndex slot() const { return slot_; }
  std::uint64_t taken() const { return taken_; }

  // Returns the number of the newest turn asked for. Any thread may call it.
  turn::TurnNumber asked() const { return asked_.load(std::memory_order_acquire); }

  // Returns whether the stream is being captured, so that the library must queue nothing there. Returns true
  // also if the driver does not tell.
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
  phase::StreamKey stream_ = 0;  // stream of the turn held
  bool holding_ = false;
  bool gate_refused_ = false;
  bool next_one_stream_ = false;
  bool one_stream_ = false;  // of the turn held, or of the last one
  std::uint64_t taken_ = 0;
};

}  // namespace crossover::session
