// Implements what Session does for a job whose turns end at waits (docs/design/0060-turns-at-every-gap.md).
//
// Turns are those of the main stream: the one with the most launches. A call that makes it wait for a
// collective ends the turn in front of the wait, and the next launch on it begins another one. So no turn
// lasts while this stream waits for another rank, as far as the library sees its waits. Other streams never
// wait for a turn. The library adds no order between streams that the program does not have.

#include <utility>

#include "sidecar/log/log.h"
#include "sidecar/session/hook_flags.h"
#include "sidecar/session/session.h"

namespace crossover::session {

void Session::AllowTurnsAtWaits() {
  const base::Locked locked(mutex_);
  detector_.AllowWaits();
}

// Returns whether turns of this job may end at waits. If a gate blocks the host they must not: the host would
// not reach the collectives for which other ranks wait. In time slices a turn covers its collectives
// (0004-time-slices.md).
bool Session::CanEndAtWaits() const { return !turns_.blocks() && overlap_; }

// Begins or ends turns of the main stream. `takes` says that the job must take turns. Returns whether it
// does. The main stream is known before turns begin and stays known between them: what other streams join
// must not count as joined by it. It takes no turn before it, or the host, has joined a collective that was
// called since then: an older one may be joined by another stream already, and its wait is not seen.
bool Session::FollowWaits(bool takes) {
  if (main_ == 0) {
    main_ = tracker_.ChooseMain();
    main_since_ = called_;
  }
  if (!CanEndAtWaits() && !std::exchange(said_no_waits_, true)) {
    log::Write(log::Level::kWarn,
               "this process takes no turns: CROSSOVER_TURNS_AT_WAITS=1 needs MPS on the GPU, and gates that "
               "do not block "
               "the host; got %s",
               overlap_ ? "host gates, which block it" : "no MPS");
  }
  if (!takes || !CanEndAtWaits()) {
    LeaveWaits();
    return false;
  }
  if (AtWaits()) return true;
  EndTurn();
  if (turns_.holding() || main_ == 0 || tracker_.joined() < main_since_) return false;
  takes_at_waits_ = true;
  turns_.SetOneStream(true);
  turns_end_at_waits.store(true, std::memory_order_relaxed);
  return true;
}

// Ends turns of the main stream. A launch that had to begin the next one must not begin a turn of all streams
// in its place: that would order streams that the program does not order.
void Session::LeaveWaits() {
  if (!AtWaits()) return;
  EndTurn();
  armed_ = false;
  takes_at_waits_ = false;
  SetAttention();
  turns_.SetOneStream(false);
  turns_end_at_waits.store(false, std::memory_order_relaxed);
}

// Does the same permanently: the main stream is chosen anew if turns must end at waits again.
void Session::ForgetMain() {
  LeaveWaits();
  main_ = 0;
  tracker_.ForgetMain();
}

void Session::BeforeStreamWait(phase::StreamKey stream, phase::EventKey event) {
  const base::Locked locked(mutex_);
  if (stream == main_) BeforeWait(event);
}

void Session::BeforeAllWait(phase::EventKey event) {
  const base::Locked locked(mutex_);
  BeforeWait(event);
}

void Session::BeforeHostWait() {
  const base::Locked locked(mutex_);
  if (AtWaits()) EndTurnAtWait();
}

// Ends the turn if the main stream is about to wait for a collective that it does not come after yet.
void Session::BeforeWait(phase::EventKey event) {
  if (AtWaits() && tracker_.MainWouldJoin(event)) EndTurnAtWait();
}

// Ends the turn, and makes the next launch begin another one. The thread that waits may not be the one that
// launches. It cannot name that thread's default stream, so a turn on that stream goes on.
void Session::EndTurnAtWait() {
  if (!turns_.holding() || turns_.OfAnotherThread()) return;
  EndTurn();
  armed_ = !turns_.holding();
  SetAttention();
}

}  // namespace crossover::session
