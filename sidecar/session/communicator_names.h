// Gives each communicator a number by which all of its ranks know it. Does not allocate.
//
// A communicator that is made from an ID of NCCL has the digest of that ID. One that is split from another
// has a number that comes from its parent's, from how many were split from that parent before, and from its
// color: NCCL demands that all ranks of the parent split it in the same order. One whose origin was not seen
// has none.
//
// Thread-safe, with a lock of its own that is held only while a function reads or changes the table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/base/hash.h"
#include "common/base/mutex.h"

namespace crossover::session {

class CommunicatorNames {
 public:
  constexpr CommunicatorNames() = default;

  // Returns the number for an ID of NCCL.
  static constexpr std::uint64_t NumberOf(std::span<const char> id) {
    return NotZero(base::Hash({id.data(), id.size()}));
  }

  // Returns the number of a communicator, or 0 if it has none.
  std::uint64_t Find(const void* handle) const {
    const base::Locked locked(mutex_);
    for (const Name& name : names_) {
      if (name.handle == handle) return name.number;
    }
    return 0;
  }

  // Gives a communicator this number, in place of any other. If there is no room it has none.
  void Add(const void* handle, std::uint64_t number) {
    const base::Locked locked(mutex_);
    AddLocked(handle, number);
  }

  // Counts a split of `parent`, and gives `child` its number. `child` is null if it is not known yet, or if
  // this rank is in none of the new communicators.
  void Derive(const void* parent, const void* child, std::int32_t color) {
    const base::Locked locked(mutex_);
    for (Name& name : names_) {
      if (name.handle != parent || parent == nullptr) continue;
      std::uint64_t number = Mix(name.number, ++name.derived);
      number = NotZero(Mix(number, static_cast<std::uint32_t>(color)));
      if (child != nullptr) AddLocked(child, number);
      return;
    }
  }

  void Remove(const void* handle) {
    const base::Locked locked(mutex_);
    RemoveLocked(handle);
  }

 private:
  struct Name {
    const void* handle = nullptr;
    std::uint64_t number = 0;
    std::uint64_t derived = 0;  // communicators that were split from it
  };

  static constexpr std::uint64_t Mix(std::uint64_t number, std::uint64_t value) {
    number = (number ^ value) * 0xff51afd7ed558ccdu;
    return number ^ (number >> 32);
  }
  static constexpr std::uint64_t NotZero(std::uint64_t number) { return number == 0 ? 1 : number; }

  void RemoveLocked(const void* handle) {
    for (Name& name : names_) {
      if (name.handle == handle) name = Name();
    }
  }
  void AddLocked(const void* handle, std::uint64_t number) {
    RemoveLocked(handle);
    for (Name& name : names_) {
      if (name.handle != nullptr) continue;
      name = {handle, number, 0};
      return;
    }
  }

  mutable base::Mutex mutex_;
  std::array<Name, 64> names_{};
};

}  // namespace crossover::session
