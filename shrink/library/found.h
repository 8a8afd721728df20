// Keeps a table of functions that is looked up once.
#pragma once

#include <atomic>

#include "common/base/mutex.h"

namespace crossover::shrink::library {

// A Found has the functions from the first search that finds them all. They do not change then. Thread-safe.
template <class Functions>
class Found {
 public:
  constexpr Found() = default;

  // Returns the functions, or null if `find` returns false; the next call searches again. Takes no lock once
  // they are known.
  template <class Find>
  const Functions* Get(const Find& find) {
    if (there_.load(std::memory_order_acquire)) return &functions_;
    const base::Locked locked(mutex_);
    if (there_.load(std::memory_order_relaxed)) return &functions_;
    if (!find(&functions_)) return nullptr;
    there_.store(true, std::memory_order_release);
    return &functions_;
  }

 private:
  base::Mutex mutex_;
  std::atomic<bool> there_{false};
  Functions functions_;  // valid once there_ is true
};

}  // namespace crossover::shrink::library
