// Implements the reasons why a Session takes no turns. Some hold for the rest of the process. Others go away:
// they describe the collectives that were seen last.

#include "sidecar/log/log.h"
#include "sidecar/session/session.h"

namespace crossover::session {
namespace {

void Tell(base::WatchReason reason) {
  log::Write(log::Level::kWarn, "this process takes no turns: %s%s", base::Text(reason),
             base::Advice(reason));
}

base::WatchReason ReasonOf(phase::Detector::Obstacle obstacle) {
  using Obstacle = phase::Detector::Obstacle;
  switch (obstacle) {
    case Obstacle::kNone:
      return base::WatchReason::kNone;
    case Obstacle::kInnerWaits:
      return base::WatchReason::kInnerWaits;
    case Obstacle::kNoWaits:
      return base::WatchReason::kNoWaits;
    case Obstacle::kNoPeriod:
      return base::WatchReason::kNoPeriod;
  }
  return base::WatchReason::kNone;
}

}  // namespace

void Session::ObserveOnly(base::WatchReason reason) {
  const base::Locked locked(mutex_);
  ObserveOnlyLocked(reason);
}

void Session::ObserveOnlyLocked(base::WatchReason reason) {
  if (WatchOnly(reason)) Tell(reason);
}

// Stores the reason, and tells the arbiter at once, because no later collective might do so. Returns false if
// there was a reason before; the first one stays.
bool Session::WatchOnly(base::WatchReason reason) {
  if (watched_only()) return false;
  watch_reason_ = reason;
  if (turns_.page() == nullptr) return true;
  PublishPhase(false);
  SetAttention();
  return true;
}

// Returns whether the collectives are kernels that are all alike and all joined. Each then looks like an
// iteration, but it may be that of one of many layers, and a turn for each would be much too short. The
// amount of data would tell, but the library does not know it.
bool Session::AllAlike() {
  if (!by_kernels_ || detector_.period() != 1) {
    alike_ = 0;
    return false;
  }
  // When there are more of them than any period can have, no period explains them.
  if (alike_ < phase::Detector::kMaxPeriod && ++alike_ == phase::Detector::kMaxPeriod && !said_alike_) {
    said_alike_ = true;
    Tell(base::WatchReason::kAlike);
  }
  return true;
}

// Looks for the reason why no period with turns is found, and writes it to the log once. The reason goes once
// a period is found.
void Session::LookForObstacle() {
  constexpr phase::Sequence kEvery = 64;
  if (!detector_.locked() && called_ % kEvery != 0) return;
  obstacle_ = ReasonOf(detector_.obstacle());
  const std::uint32_t bit = 1u << static_cast<std::uint32_t>(obstacle_);
  if (obstacle_ == base::WatchReason::kNone || watched_only() || (said_obstacles_ & bit) != 0) return;
  said_obstacles_ |= bit;
  Tell(obstacle_);
}

}  // namespace crossover::session
