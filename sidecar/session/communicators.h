// Keeps the communicators of the process in a bounded table. Does not allocate.
//
// Thread-safe, with a lock of its own that is held only while a function reads or changes the table. A thread
// that aborts a communicator must never wait for a thread that only this abort lets go on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"

namespace crossover::session {

// A Communicator is one entry of the table.
struct Communicator {
  const void* handle = nullptr;
  std::uint32_t index = 0;  // in order of creation
  int ranks = 0;
  int rank = 0;              // this process's own
  std::uint64_t number = 0;  // communicator_names.h; 0: it has none
};

// Communicators is the table, by handle.
class Communicators {
 public:
  constexpr Communicators() = default;

  // Returns the entry of `handle`, or one with 0 ranks if the handle is unknown.
  Communicator Find(const void* handle) const {
    const base::Locked locked(mutex_);
    for (const Communicator& entry : entries_) {
      if (entry.handle == handle) return entry;
    }
    return {};
  }

  // Adds a communicator, in place of any with the same handle. Returns false when the table is full.
  bool Add(const void* handle, int ranks, int rank = 0, std::uint64_t number = 0) {
    const base::Locked locked(mutex_);
    RemoveLocked(handle);
    for (Communicator& entry : entries_) {
      if (entry.handle != nullptr) continue;
      entry = {handle, ++created_, ranks, rank, number};
      full_.store(false, std::memory_order_relaxed);
      return true;
    }
    full_.store(true, std::memory_order_relaxed);
    return false;
  }

  // Returns whether the last communicator found no room, and none has been removed since. Takes no lock.
  bool full() const { return full_.load(std::memory_order_relaxed); }

  // Returns whether any communicator in the table has more than one rank.
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
    full_.store(false, std::memory_order_relaxed);
  }

 private:
  void RemoveLocked(const void* handle) {
    for (Communicator& entry : entries_) {
      if (entry.handle == handle) entry = Communicator();
    }
  }

  mutable base::Mutex mutex_;
  std::atomic<bool> full_{false};
  std::array<Communicator, 64> entries_{};
  std::uint32_t created_ = 0;
};

}  // namespace crossover::session
