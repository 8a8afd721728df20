// Implements what Session does where its tables are full: it takes no turns until they have room.

#include <utility>

#include "common/base/clock.h"
#include "sidecar/log/log.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::session {

// Returns which table is full, as the reason why no turns are taken until it has room; kNone where none is.
base::WatchReason Session::Crowded() const {
  if (communicators_.full()) return base::WatchReason::kCommunicators;
  return tracker_.full() ? base::WatchReason::kStreams : base::WatchReason::kNone;
}

// Looks whether a table that was full has room again. A communicator that found no room is met again at its
// next collective. Streams that compute are looked for anew: one that was missed may be among them.
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
               "takes no turns as long as there are %s; other ranks of the job may take turns",
               base::Text(crowded));
  } else if (crowded == base::WatchReason::kNone && said_crowded_ && !std::exchange(said_room_, true)) {
    log::Write(log::Level::kWarn, "there is room for all streams and communicators again");
  }
}

// Forgets default streams of threads that have ended, and their captures: they end with their thread, which
// no call tells. Makes a call of the kernel for each such stream that is known, so it looks once a second.
// REQUIRES: the calling thread is one of the user's, or no turn is held.
void Session::ForgetThreadsThatAreGone() {
  const std::int64_t now = base::MonotonicNs();
  if (now - looked_for_threads_ns_ < base::kNsPerSecond) return;
  looked_for_threads_ns_ = now;
  const auto gone = [](phase::StreamKey key) { return IsPerThread(key) && ThreadIsGone(key); };
  tracker_.ForgetStreams(gone);
  if (captures_.EndAll([&gone](const Capture& capture) { return gone(capture.key); })) EndDueTurn();
}

}  // namespace crossover::session
