// The process's communicators: bounded, no allocation.
//
// Thread-safe, with a lock of its own that is held for a look at the table and for nothing else: whoever
// aborts a communicator must never wait for a thread that the abort would let go on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"

namespace crossover::session {

struct Communicator {
  const void* handle = nullptr;
  std::uint32_t index = 0;  // in order of creation
  int ranks = 0;
};

class Communicators {
 public:
  constexpr Communicators() = default;

  // One of no ranks where it is unknown.
  Communicator Find(const void* handle) const {
    const base::Locked locked(mutex_);
    for (const Communicator& entry : entries_) {
      if (entry.handle == handle) return entry;
    }
    return {};
  }

  // False when the table is full.
  bool Add(const void* handle, int ranks) {
    const base::Locked locked(mutex_);
    RemoveLocked(handle);
    for (Communicator& entry : entries_) {
      if (entry.handle != nullptr) continue;
      entry = {handle, ++created_, ranks};
      return true;
    }
    return false;
  }

  bool AnyOfSeveralRanks() const {
    const base::Locked locked(mutex_);
    for (const Communicator& entry : entries_) {
      if (entry.handle != nullptr && entry.ranks > 1) return true;
    }
    return false;
  }

  void Remove(const void* handle) {
    const base::Locked locked(mutex_);
    RemoveLocked(handle);
  }

 private:
  void RemoveLocked(const void* handle) {
    for (Communicator& entry : entries_) {
      if (entry.handle == handle) entry = Communicator();
    }
  }

  mutable base::Mutex mutex_;
  std::array<Communicator, 64> entries_{};
  std::uint32_t created_ = 0;
};

}  // namespace crossover::session
