#include "deviceplugin/stats/event_subscription.h"

#include <utility>

namespace crossover::deviceplugin {

bool ToldToWatchers(arbiter::EventKind kind) {
  switch (kind) {
    case arbiter::EventKind::kGrant:
    case arbiter::EventKind::kRevoke:
    case arbiter::EventKind::kMint:
    case arbiter::EventKind::kSwallow:
    case arbiter::EventKind::kStep:
    case arbiter::EventKind::kMeasure:
    case arbiter::EventKind::kCalls:
    case arbiter::EventKind::kReductions:
      return false;
    default:
      return true;
  }
}

void EventSubscription::Put(const arbiter::Event& event) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (events_.size() >= kMost) {
      events_.pop_front();
      ++dropped_;
    }
    events_.push_back(event);
  }
  wake_.notify_one();
}

void EventSubscription::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_one();
}

EventSubscription::Batch EventSubscription::Take(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, patience, [this] { return !events_.empty() || ended_; });
  Batch batch{
      .dropped = std::exchange(dropped_, 0), .events = {events_.begin(), events_.end()}, .ended = ended_};
  events_.clear();
  return batch;
}

}  // namespace crossover::deviceplugin
