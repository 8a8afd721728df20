// Keeps what the library knows of the communicators of the process, in a bounded table. Does not allocate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "shrink/library/buffer.h"
#include "shrink/library/node_exchange.h"

namespace crossover::shrink::library {

// A Communicator is one entry of the table. Behind Add() only the thread that uses the communicator of NCCL
// uses it.
struct Communicator {
  std::atomic<const void*> handle{nullptr};
  std::uint32_t number = 0;      // in order of creation, from 1
  bool narrow = false;           // all its ranks agreed
  bool could_agree = false;      // the dry run: its ranks would vote
  std::uint32_t budget_mib = 0;  // of a narrowed one: the least of its ranks
  std::uint32_t told = 0;        // a bit for each base::PlainReason of which its calls were told
  std::uint64_t in_group = 0;    // bytes of the buffer that calls of the open group take
  Buffer buffer;                 // of a narrowed one
  NodeExchange exchange;         // is ready if it is narrowed to 8 bits
};

// Communicators is the table. Thread-safe: Find() takes no lock, the others do.
class Communicators {
 public:
  static constexpr std::size_t kMost = 256;

  constexpr Communicators() = default;

  // Returns the entry of a handle, or null.
  Communicator* Find(const void* handle) {
    for (std::size_t i = 0; i < kMost; ++i) {
      Communicator& entry = entries_[(Slot(handle) + i) % kMost];
      const void* there = entry.handle.load(std::memory_order_acquire);
      if (there == handle) return &entry;
      if (there == nullptr) return nullptr;
    }
    return nullptr;
  }

  // Adds a communicator. Returns its entry, or null if the table is full.
  Communicator* Add(const void* handle, bool narrow, std::uint32_t budget_mib, const Buffer& buffer,
                    const NodeExchange& exchange = {}) {
    const base::Locked locked(mutex_);
    for (std::size_t i = 0; i < kMost; ++i) {
      Communicator& entry = entries_[(Slot(handle) + i) % kMost];
      const void* there = entry.handle.load(std::memory_order_relaxed);
      if (there != nullptr && there != &gone_) continue;
      entry.number = ++created_;
      entry.narrow = narrow;
      entry.could_agree = false;
      entry.budget_mib = budget_mib;
      entry.told = 0;
      entry.in_group = 0;
      entry.buffer = buffer;
      entry.exchange = exchange;
      entry.handle.store(handle, std::memory_order_release);
      return &entry;
    }
    return nullptr;
  }

  // Forgets an entry. Its buffer is its owner's to free before.
  void Remove(Communicator* entry) {
    const base::Locked locked(mutex_);
    entry->handle.store(&gone_, std::memory_order_release);
  }

  // Returns whether Add() would find room, if no other thread adds one before.
  bool HasRoom() {
    const base::Locked locked(mutex_);
    for (const Communicator& entry : entries_) {
      const void* there = entry.handle.load(std::memory_order_relaxed);
      if (there == nullptr || there == &gone_) return true;
    }
    return false;
  }

 private:
  static std::size_t Slot(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle) / 64; }

  static constexpr char gone_ = 0;  // its address marks an entry that was removed, which a search passes
  base::Mutex mutex_;
  std::uint32_t created_ = 0;
  std::array<Communicator, kMost> entries_{};
};

}  // namespace crossover::shrink::library
