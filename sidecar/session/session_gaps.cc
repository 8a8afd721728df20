// Implements what Session does for a job whose collectives are not seen: see gaps.h.

#include <utility>

#include "common/base/futex.h"
#include "sidecar/log/log.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::session {

void Session::ExpectNoCollectives() {
  const base::Locked locked(mutex_);
  gaps_.set_communicator(communicators_.AnyOfSeveralRanks());
}

// Counts a launch while streams are learned and no period is known. Begins or refuses turns at gaps.
void Session::LearnGaps(phase::StreamKey launching) {
  const bool scanned = gaps_.scanning();
  const bool refused = gaps_.refused();
  const bool began = gaps_.OnLaunch();
  if (began) {
    log::Write(log::Level::kInfo, "no collectives are seen: turns end where the GPU has nothing to do");
    for (const phase::StreamState& stream : tracker_.streams()) {
      if (stream.compute && IsPerThread(stream.key)) gaps_.Refuse();
    }
  }
  if (gaps_.by_gaps() && !CanBeAsked(launching)) gaps_.Refuse();
  if (gaps_.refused() && !refused) OnUnaskable();
  if (began || scanned != gaps_.scanning() || refused != gaps_.refused()) PublishGaps();
}

// Returns whether the arbiter thread will be able to ask the driver if work that this thread launches now has
// ended.
bool Session::CanBeAsked(phase::StreamKey launching) const {
  CUcontext current = nullptr;
  return !IsPerThread(launching) && driver_->CtxGetCurrent(&current) == CUDA_SUCCESS && current == context_;
}

void Session::OnUnaskable() {
  armed_ = false;
  EndTurn();
  if (watched_only()) return;
  log::Write(log::Level::kWarn, "this process takes no turns: %s", base::Text(base::WatchReason::kUnaskable));
}

void Session::PublishGaps() {
  if (turns_.page() == nullptr) return;
  PublishPhase(gaps_.by_gaps() && mode_ == CROSSOVER_MODE_GATE && MayTake());
  SetAttention();
}

// Follows the mode that the arbiter asks for. Runs on the arbiter thread, which queues nothing. It therefore
// leaves a turn that is held alone: such a turn goes on until it is idle.
void Session::FollowByGaps() {
  if (turns_.page() == nullptr || turns_.holding() || blocked_) return;
  const std::uint32_t mode = mode_;
  const bool watched = Follow();
  const bool was_crowded = Crowded() != base::WatchReason::kNone;
  LookForRoom();
  const bool crowded = Crowded() != base::WatchReason::kNone;
  const bool takes = watched && mode_ == CROSSOVER_MODE_GATE && gaps_.by_gaps() && MayTake();
  if (mode == mode_ && armed_ == takes && crowded == was_crowded) return;
  if (gaps_.by_gaps()) {
    armed_ = takes;
    joined_stream_ = 0;
  }
  if (watched) {
    PublishGaps();
  } else {
    SetAttention();
  }
}

void Session::OnContextMayEnd() {
  const base::Locked locked(mutex_);
  if (gaps_.by_gaps()) LeaveContext();
}

void Session::OnContextEnds(CUcontext context) {
  const base::Locked locked(mutex_);
  if (context == context_) {
    EndOwnContext();
  } else if (gaps_.by_gaps()) {
    LeaveContext();
  }
}

void Session::OnOwnContextEnds() {
  const base::Locked locked(mutex_);
  EndOwnContext();
}

// Leaves the session's own context for good. The library's event, memory and registration of the page end
// with it, and the next context may get the same handle. Most programs end here, so the log tells of it only
// if the program goes on (TellOfEnd).
void Session::EndOwnContext() {
  if (context_ended_ || driver_ == nullptr) return;
  told_of_end_ = !WatchOnly(base::WatchReason::kContextEnded);
  LeaveContext();
  relay_gate_.LeaveMemory();
  signals_.End();
  context_ended_ = true;
}

void Session::TellOfEnd() {
  if (std::exchange(told_of_end_, true)) return;
  log::Write(log::Level::kWarn, "this process takes no turns: %s",
             base::Text(base::WatchReason::kContextEnded));
}

// Ends the turn and forgets the streams. They may be gone afterwards, so the library must neither queue
// anything on them nor ask the driver about them.
void Session::LeaveContext() {
  if (!AnyCapture() && turns_.Idle(tracker_)) {
    CountTurn();
    turns_.ReleaseOnHost();
  } else {
    EndOrGiveUp();
  }
  LeaveWaits();
  armed_ = lasts_ = false;
  awaited_ = 0;
  joined_stream_ = 0;
  gaps_.Forget();
  tracker_.Reset();
  scan_until_ = called_ + 2 * detector_.period();
  PublishGaps();
}

}  // namespace crossover::session
