// Implements what Session does while its tables are full: it takes no turns until they have room.

#include <utility>

#include "common/base/clock.h"
#include "sidecar/log/log.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::session {

// Returns which table is full, as the reason why the session takes no turns; kNone if none is full.
base::WatchReason Session::Crowded() const {
  if (communicators_.full()) return base::WatchReason::kCommunicators;
  return tracker_.full() ? base::WatchReason::kStreams : base::WatchReason::kNone;
}

// Checks whether a table that was full has room again. A communicator that found no room is added at its next
// collective. The session then looks for streams that compute anew, because it may have missed one.
void Session::LookForRoom() {
  if (tracker_.full() || AnyCapture()) ForgetThreadsThatAreGone();
  if (tracker_.full() && tracker_.Recover()) {
    scan_until_ = called_ + 2 * detector_.period();
    gaps_.OnStream();
  }
  TellOfRoom();
}

// Writes to the log, once each, that a table is full and that it has room again.
void Session::TellOfRoom() {
  const base::WatchReason crowded = Crowded();
  if (crowded != base::WatchReason::kNone && !std::exchange(said_crowded_, true)) {
    log::Write(log::Level::kWarn,
               "this process takes no turns as long as there are %s; other ranks of the job may take turns",
               base::Text(crowded));
  } else if (crowded == base::WatchReason::kNone && said_crowded_ && !std::exchange(said_room_, true)) {
    log::Write(log::Level::kWarn,
               "there is room for all streams and communicators again: this no longer prevents turns");
  }
}

// Forgets default streams of threads that have ended, and their captures: these end with their thread, and no
// call tells it. Looks once a second at most, because it makes one system call for each such stream.
// REQUIRES: the calling thread is one of the user's, or no turn is held.
void Session::ForgetThreadsThatAreGone() {
  const std::int64_t now = base::MonotonicNs();
  if (now - looked_for_threads_ns_ < base::kNsPerSecond) return;
  looked_for_threads_ns_ = now;
  if (AtWaits() && EndedWithItsThread(main_)) LeaveWaits();
  tracker_.ForgetStreams(EndedWithItsThread);
  if (captures_.EndAll([](const Capture& capture) { return EndedWithItsThread(capture.key); })) EndDueTurn();
}

}  // namespace crossover::session
