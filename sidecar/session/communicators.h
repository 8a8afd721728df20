// The process's communicators: bounded, no allocation, not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace crossover::session {

struct Communicator {
  const void* handle = nullptr;
  std::uint32_t index = 0;  // in order of creation
  int ranks = 0;
};

class Communicators {
 public:
  constexpr Communicators() = default;

  // Null where it is unknown.
  const Communicator* Find(const void* handle) const {
    for (const Communicator& entry : entries_) {
      if (entry.handle == handle) return &entry;
    }
    return nullptr;
  }

  // False when the table is full.
  bool Add(const void* handle, int ranks) {
    Remove(handle);
    for (Communicator& entry : entries_) {
      if (entry.handle != nullptr) continue;
      entry = {handle, ++created_, ranks};
      return true;
    }
    return false;
  }

  bool AnyOfSeveralRanks() const {
    for (const Communicator& entry : entries_) {
      if (entry.handle != nullptr && entry.ranks > 1) return true;
    }
    return false;
  }

  void Remove(const void* handle) {
    for (Communicator& entry : entries_) {
      if (entry.handle == handle) entry = Communicator();
    }
  }

 private:
  std::array<Communicator, 64> entries_{};
  std::uint32_t created_ = 0;
};

}  // namespace crossover::session
