// Implements the turns of a Session: a launch begins a turn, a yield point interrupts it, and a collective
// ends it. All functions hold the lock, except while a gate that blocks waits for the turn.

#include <utility>

#include "common/base/futex.h"
#include "sidecar/log/log.h"
#include "sidecar/session/session.h"

namespace crossover::session {

// Ends the turn. The successor that the page names has the next one.
void Session::EndTurn() {
  slice_.Forget();
  ReleaseTurn(Turns::Next::kSuccessor);
}

// Ends a turn that lasts, at the launch that begins the next one. The client keeps the token until its slice
// has ended. If no turn of its own follows, it hands over at once.
void Session::EndTurnBeforeNext() {
  if (!turns_.holding() || blocked_) return;
  if (!MayTake() || !Follow() || mode_ != CROSSOVER_MODE_GATE || !detector_.locked()) return EndTurn();
  const std::uint32_t bits = base::LoadWord(&turns_.page()->slot[turns_.slot()].slice_bits);
  ReleaseTurn(slice_.Ends(Iteration(), bits) ? Turns::Next::kSuccessor : Turns::Next::kOwn);
}

// Gives the turn back, if one is held. A thread that waits in a gate that blocks holds none yet. While the
// turn's stream is captured, the library must queue nothing there, so the turn goes on until the capture
// ends.
void Session::ReleaseTurn(Turns::Next next) {
  if (!turns_.holding() || blocked_) return;
  due_ = AnyCapture() && turns_.Capturing(turns_.stream());
  if (due_) return;
  CountTurn();
  if (!turns_.Release(tracker_, AnyCapture(), next) &&
      !(FallBack() && turns_.Release(tracker_, AnyCapture(), next))) {
    // The token stays with this client until the arbiter's watchdog replaces it. That is slow, and safe.
    OnRefused();
    turns_.Abandon();
  }
  SetAttention();
}

// Ends the turn at a point after which the library must queue nothing on its stream. A turn that cannot end
// now never ends, so the client then asks for no further turn.
void Session::EndOrGiveUp() {
  EndTurn();
  if (!turns_.holding()) return;
  ObserveOnlyLocked(base::WatchReason::kCaptured);
  turns_.Abandon();
}

// Counts the launches of the turn, and publishes how many are usual.
void Session::CountTurn() {
  stretches_.End();
  base::StoreWord(&turns_.page()->slot[turns_.slot()].turn_launches, stretches_.usual());
}

void Session::BeginTurn(phase::StreamKey launching) {
  if (input_wait_.waits()) input_wait_.End(base::MonotonicNs());
  const bool capturing = AnyCapture();
  if (capturing && turns_.blocks() && std::exchange(lasts_, false)) EndTurn();
  // The turn begins with the graph's launch, or with the first launch after all captures: a wait could
  // invalidate a capture.
  if (capturing && (turns_.blocks() || turns_.Capturing(launching))) return;
  if (AtWaits() && launching != main_) return;  // other streams need no turn
  armed_ = false;
  SetAttention();
  if (std::exchange(lasts_, false)) EndTurnBeforeNext();
  if (turns_.page() == nullptr || turns_.holding() || blocked_ || !MayTake()) return;
  if (!Follow() || mode_ != CROSSOVER_MODE_GATE) return;
  if (gaps_.by_gaps() && !CanBeAsked(launching)) {
    gaps_.Refuse();
    OnUnaskable();
    return PublishGaps();
  }
  aborted_.store(false, std::memory_order_relaxed);
  if (!TakeTurn(launching, capturing)) OnRefused();
  if (turns_.holding()) {
    stretches_.Begin(StretchAsked());
    if (gaps_.by_gaps()) {
      gaps_.OnTurn();
      PublishGaps();
    }
    NumberIteration();
  }
  if (watched_only()) EndTurn();  // a reason came up while the turn was waited for
  SetAttention();
}

bool Session::TakeTurn(phase::StreamKey launching, bool capturing) {
  if (turns_.blocks()) return WaitForTurn(launching);
  const bool joined = joined_stream_ != 0 && !AtWaits() && !(capturing && turns_.Capturing(joined_stream_));
  const phase::StreamKey stream = joined ? joined_stream_ : launching;
  if (turns_.Acquire(stream, launching, tracker_, capturing)) return true;
  return !turns_.holding() && FallBack() && WaitForTurn(launching);
}

// Waits for the turn without the lock, so that the arbiter thread can watch the arbiter meanwhile.
bool Session::WaitForTurn(phase::StreamKey launching) {
  blocked_ = true;
  mutex_.Unlock();
  const bool begun = turns_.WaitForTurn(launching);
  mutex_.Lock();
  blocked_ = false;
  if (begun && turns_.page() != nullptr) turns_.Began(launching);
  return begun;
}

// Changes to host gates if the driver has accepted operations of this gate before and refuses them now.
// Returns false if it cannot.
bool Session::FallBack() {
  if (!turns_.gate_refused() || turns_.blocks() || !host_gate_works_ || AnyCapture() ||
      turns_.ContextLost()) {
    return false;
  }
  log::Write(log::Level::kWarn,
             "the driver has begun to refuse stream memory operations; takes turns by host gates instead");
  transport_ = CROSSOVER_TRANSPORT_HOST_GATES;
  turns_.Change(&host_gate_);
  return true;
}

// Stops taking turns, because the driver refuses the library's operations. In a lost context nothing runs
// that a turn could cover, so the host gives the turn back. If its release was queued, the GPU may have begun
// the release; the arbiter's watchdog then decides.
void Session::OnRefused() {
  const bool others = turns_.OfAnotherThread();
  const bool lost = !AnyCapture() && turns_.ContextLost();
  if (lost && turns_.Let()) turns_.ReleaseOnHost();
  if (lost) signals_.End();
  ObserveOnlyLocked(lost     ? base::WatchReason::kContextLost
                    : others ? base::WatchReason::kSeveralThreads
                             : base::WatchReason::kDriver);
}

// Returns the number of launches per stretch that the arbiter asks for in the present turn. Any client may
// have written over that word.
std::uint32_t Session::StretchAsked() const {
  const std::uint32_t position = turn::PositionOf(turns_.asked(), turn::TurnsOf(TurnsPerIteration()));
  return base::LoadWord(&turns_.page()->slot[turns_.slot()].stretch_launches[position]);
}

// Makes a yield point in the middle of a turn. With a gate that blocks, the turn ends and another begins, but
// only if another client waits.
void Session::MakeYieldPoint(phase::StreamKey launching) {
  if (!turns_.holding() || blocked_ || lasts_ || exiting_.load(std::memory_order_relaxed)) return;
  if (AnyCapture() || (turns_.blocks() && !turns_.OthersWait())) {
    stretches_.Next(StretchAsked());
  } else if (turns_.blocks()) {
    EndTurn();
    BeginTurn(launching);
  } else if (turns_.Yield(launching, tracker_)) {
    stretches_.Next(StretchAsked());
  } else if (FallBack()) {
    stretches_.Next(StretchAsked());
  } else {
    OnRefused();
  }
}

}  // namespace crossover::session
