// A turn of Session's: begun by a launch, yielded in its middle, ended by a collective. With the lock, but
// where it is waited for in a gate that blocks.

#include <utility>

#include "common/base/futex.h"
#include "sidecar/log/log.h"
#include "sidecar/session/session.h"

namespace crossover::session {

// Where there is one: a thread that waits in a gate that blocks has none yet. While its stream is captured
// nothing may be queued there, and the turn goes on until it is not.
void Session::EndTurn() {
  if (!turns_.holding() || blocked_) return;
  due_ = AnyCapture() && turns_.Capturing(turns_.stream());
  if (due_) return;
  CountTurn();
  if (!turns_.Release(tracker_, AnyCapture()) && !(FallBack() && turns_.Release(tracker_, AnyCapture()))) {
    // The token stays with us and the arbiter's watchdog takes it: slow, and safe.
    OnRefused();
    turns_.Abandon();
  }
  SetAttention();
}

// Where nothing of ours may be queued afterwards. A turn that cannot end now never does: no other is asked
// for.
void Session::EndOrGiveUp() {
  EndTurn();
  if (!turns_.holding()) return;
  ObserveOnlyLocked(base::WatchReason::kCaptured);
  turns_.Abandon();
}

void Session::CountTurn() {
  stretches_.End();
  base::StoreWord(&turns_.page()->slot[turns_.slot()].turn_launches, stretches_.usual());
}

void Session::BeginTurn(phase::StreamKey launching) {
  const bool capturing = AnyCapture();
  if (capturing && turns_.blocks() && std::exchange(lasts_, false)) EndTurn();
  // The graph's launch begins the turn, or the first one after all captures: waiting could spoil them.
  if (capturing && (turns_.blocks() || turns_.Capturing(launching))) return;
  armed_ = false;
  SetAttention();
  if (std::exchange(lasts_, false)) EndTurn();
  if (turns_.page() == nullptr || turns_.holding() || blocked_ || watched_only()) return;
  if (!taking_allowed_.load(std::memory_order_acquire) || Follow() == false || mode_ != CROSSOVER_MODE_GATE) {
    return;
  }
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
  if (watched_only()) EndTurn();  // found out while it was waited for
  SetAttention();
}

bool Session::TakeTurn(phase::StreamKey launching, bool capturing) {
  if (turns_.blocks()) return WaitForTurn(launching);
  const bool joined = joined_stream_ != 0 && !(capturing && turns_.Capturing(joined_stream_));
  const phase::StreamKey stream = joined ? joined_stream_ : launching;
  if (turns_.Acquire(stream, launching, tracker_, capturing)) return true;
  return !turns_.holding() && FallBack() && WaitForTurn(launching);
}

// Without the lock: the helper is to see to the arbiter meanwhile.
bool Session::WaitForTurn(phase::StreamKey launching) {
  blocked_ = true;
  mutex_.Unlock();
  const bool begun = turns_.WaitForTurn(launching);
  mutex_.Lock();
  blocked_ = false;
  if (begun && turns_.page() != nullptr) turns_.Began(launching);
  return begun;
}

// The driver took operations of this gate before, and does not any more. False: there is nothing to go on
// with.
bool Session::FallBack() {
  if (!turns_.gate_refused() || turns_.blocks() || !host_gate_works_ || AnyCapture() ||
      turns_.ContextLost()) {
    return false;
  }
  log::Write(log::Level::kWarn,
             "the driver refuses stream memory operations from now on; host gates instead");
  transport_ = CROSSOVER_TRANSPORT_HOST_GATES;
  turns_.Change(&host_gate_);
  return true;
}

// The driver takes nothing more of ours. In a lost context nothing runs that a turn could stand for: it is
// given back from here. Where its release is queued the GPU may have begun it: the arbiter's watchdog sees to
// that.
void Session::OnRefused() {
  const bool others = turns_.OfAnotherThread();
  const bool lost = !AnyCapture() && turns_.ContextLost();
  if (lost && turns_.Let()) turns_.ReleaseOnHost();
  ObserveOnlyLocked(lost     ? base::WatchReason::kContextLost
                    : others ? base::WatchReason::kSeveralThreads
                             : base::WatchReason::kDriver);
}

// Launches per stretch in the present turn; anybody may have scribbled on the word.
std::uint32_t Session::StretchAsked() const {
  const std::uint32_t position = turn::PositionOf(turns_.asked(), turn::TurnsOf(TurnsPerIteration()));
  return base::LoadWord(&turns_.page()->slot[turns_.slot()].stretch_launches[position]);
}

// In the middle of a turn. With a gate that blocks, the turn ends and another begins, where somebody waits.
void Session::MakeYieldPoint(phase::StreamKey launching) {
  if (!turns_.holding() || blocked_ || lasts_) return;
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
