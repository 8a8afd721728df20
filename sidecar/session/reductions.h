// Keeps what the arbiter learns of compressed reductions. Another library in front of this one reports it
// (hooks/reductions.cc).
#pragma once

#include <atomic>

#include "common/base/mutex.h"
#include "proto/arbiter_protocol.h"

namespace crossover::session {

// Reductions is thread-safe. Its lock is held for a copy only.
class Reductions {
 public:
  constexpr Reductions() = default;

  // Takes a report in place of the one before.
  void Put(const crossover_reductions& report) {
    const base::Locked locked(mutex_);
    report_ = report;
    known_ = true;
    due_.store(true, std::memory_order_release);
  }

  // Makes the last report due again, for another arbiter.
  void Resend() {
    const base::Locked locked(mutex_);
    if (known_) due_.store(true, std::memory_order_release);
  }

  // Fills in the report if it is due. Returns false otherwise, and then takes no lock.
  bool NextMessage(crossover_reductions* message) {
    if (!due_.load(std::memory_order_acquire)) return false;
    const base::Locked locked(mutex_);
    *message = report_;
    due_.store(false, std::memory_order_release);
    return true;
  }

 private:
  base::Mutex mutex_;
  std::atomic<bool> due_{false};  // written with the lock
  bool known_ = false;
  crossover_reductions report_{};
};

}  // namespace crossover::session
