// What is known of each allocation, by its address or handle.
//
// Open addressing with linear probing; a removal moves later records back, so that no tombstones gather. Its
// memory comes from mmap: hooks may run inside the user's own allocator. Not thread-safe.
// Constant-initialised, never destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crossover::memory {

struct Record {
  std::uint64_t key = 0;  // never 0 where there is one
  std::uint64_t bytes = 0;
  std::uint64_t allocation = 0;  // of a handle or a mapping: the key of what it stands for
  std::uint64_t context = 0;     // of an address: with which it ends; 0: with none
  std::int32_t device = 0;
  std::uint32_t handles = 0;   // of an allocation: references to its handle
  std::uint32_t mappings = 0;  // of an allocation: where it is mapped
};

class Table {
 public:
  constexpr Table() = default;

  // Sees to it that `more` records can be added. False: there is no memory.
  bool MakeRoom(std::size_t more);
  // Puts a record in place of whatever its key had. False: there is no memory; not where room was made.
  bool Put(const Record& record);
  // Null where there is none. Good until the next change.
  Record* Find(std::uint64_t key);
  // False where there was none; else what it was.
  bool Remove(std::uint64_t key, Record* removed);
  // The record whose bytes from its key on hold `key`; looks at all of them. Null where there is none.
  const Record* Containing(std::uint64_t key) const;
  // Removes all that `which` names, and tells `removed` of each.
  template <typename Which, typename Removed>
  void RemoveAll(Which which, Removed removed) {
    for (std::size_t place = 0; place < capacity_;) {
      Record record = records_[place];
      // A removal may move another record here: look again.
      if (record.key == 0 || !which(record) || !Remove(record.key, &record)) {
        ++place;
      } else {
        removed(record);
      }
    }
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t PlaceOf(std::uint64_t key) const;
  std::size_t Next(std::size_t place) const { return (place + 1) & (capacity_ - 1); }
  bool Grow(std::size_t capacity);

  Record* records_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace crossover::memory
