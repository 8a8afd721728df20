// Counts the launches that are left until the next yield point of the turn that is held (stretches.h). The
// count has a header of its own, so that the hook of a launch counts with two instructions and calls nothing.
//
// The count uses a plain load and a plain store. One atomic operation would take longer than the rest of a
// launch's hook. Threads that launch at the same time may therefore overwrite each other's count. The yield
// point then comes some launches early or late, and Stretches bounds what it reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

inline constinit std::atomic<std::int32_t> launches_left{0};

// Counts a launch and returns true. Returns false, and counts nothing, if a yield point is due.
inline bool CountLaunch() {
  const std::int32_t left = launches_left.load(std::memory_order_relaxed);
  if (left <= 1) return false;
  launches_left.store(left - 1, std::memory_order_relaxed);
  return true;
}

}  // namespace crossover::session
