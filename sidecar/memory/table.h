// Keeps what is known of each allocation, by its address or handle.
//
// The table uses open addressing with linear probing. A removal moves later records back, so no tombstones
// gather. The memory comes from mmap, because hooks may run inside the user's own allocator. Not
// thread-safe. Constant-initialised, never destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crossover::memory {

// A Record describes an address, a handle, a mapping or an allocation.
struct Record {
  std::uint64_t key = 0;  // 0: no record
  std::uint64_t bytes = 0;
  std::uint64_t allocation = 0;  // of a handle or a mapping: the key of its allocation
  std::uint64_t context = 0;     // of an address: the context that it ends with; 0: none
  std::int32_t device = 0;
  std::uint32_t handles = 0;   // of an allocation: number of references to its handle
  std::uint32_t mappings = 0;  // of an allocation: number of its mappings
};

// A Table maps keys to records.
class Table {
 public:
  constexpr Table() = default;

  // Makes room for `more` records. Returns false where there is no memory.
  bool MakeRoom(std::size_t more);
  // Adds a record, in place of any with the same key. Returns false where there is no memory, which cannot
  // be after MakeRoom().
  bool Put(const Record& record);
  // Returns the record with this key, or null. The pointer is valid until the next change.
  Record* Find(std::uint64_t key);
  // Removes the record with this key and copies it to `*removed`. Returns false where there is none.
  bool Remove(std::uint64_t key, Record* removed);
  // Returns the record whose range of bytes, which begins at its key, holds `key`; null where there is
  // none. Looks at all records.
  const Record* Containing(std::uint64_t key) const;
  // Removes all records for which `which` is true, and calls `removed` with each.
  template <typename Which, typename Removed>
  void RemoveAll(Which which, Removed removed) {
    for (std::size_t place = 0; place < capacity_;) {
      Record record = records_[place];
      // A removal may move another record to this place, so the place is looked at again.
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
