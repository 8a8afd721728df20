// Maps keys to records: one record for each allocation, or for each stream that is being captured.
//
// The table uses open addressing with linear probing. A removal moves later records back, so no tombstones
// gather. The memory comes from mmap, because hooks may run inside the user's own allocator. Not
// thread-safe. Constant-initialised, never destroyed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crossover::memory {

// Returns `bytes` bytes of new memory from the kernel, all zeros; null if there is none. The caller owns
// them.
void* GetPages(std::size_t bytes);
// Returns to the kernel what GetPages(bytes) has returned.
void ReturnPages(void* pages, std::size_t bytes);

// A Table maps keys to records. REQUIRES: a Record can be copied byte by byte and has a `std::uint64_t key`,
// which is 0 if there is no record.
template <typename Record>
class Table {
 public:
  constexpr Table() = default;

  // Makes room for `more` records. Returns false if there is no memory.
  bool MakeRoom(std::size_t more) {
    const std::size_t wanted = 2 * (size_ + more);
    if (wanted <= capacity_) return true;
    std::size_t capacity = capacity_ == 0 ? kLeast : capacity_;
    while (capacity < wanted) capacity *= 2;
    return Grow(capacity);
  }

  // Adds a record, in place of any with the same key. Returns false if there is no memory. That cannot happen
  // after MakeRoom().
  bool Put(const Record& record) {
    if (!MakeRoom(1)) return false;
    Record& place = records_[PlaceOf(record.key)];
    if (place.key == 0) ++size_;
    place = record;
    return true;
  }

  // Returns the record with this key, or null. The pointer is valid until the next change.
  Record* Find(std::uint64_t key) {
    if (key == 0 || capacity_ == 0) return nullptr;  // 0 is the key of an empty place
    Record& record = records_[PlaceOf(key)];
    return record.key == key ? &record : nullptr;
  }

  // Removes the record with this key and copies it to `*removed`. Returns false if there is none.
  bool Remove(std::uint64_t key, Record* removed) {
    Record* const found = Find(key);
    if (found == nullptr) return false;
    *removed = *found;
    auto hole = static_cast<std::size_t>(found - records_);
    records_[hole] = Record();
    --size_;
    // A record behind the hole moves into it if its probing begins at the hole or before it.
    for (std::size_t place = Next(hole); records_[place].key != 0; place = Next(place)) {
      const std::size_t home = Hash(records_[place].key) & (capacity_ - 1);
      const std::size_t from_home = (place - home) & (capacity_ - 1);
      const std::size_t from_hole = (place - hole) & (capacity_ - 1);
      if (from_home < from_hole) continue;
      records_[hole] = records_[place];
      records_[place] = Record();
      hole = place;
    }
    return true;
  }

  // Returns the record whose range of `bytes`, which begins at its key, holds `key`; null if there is none.
  // Looks at all records.
  const Record* Containing(std::uint64_t key) const {
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (records_[i].key != 0 && key - records_[i].key < records_[i].bytes) return &records_[i];
    }
    return nullptr;
  }

  // Removes all records for which `which` is true, and calls `removed` with each.
  template <typename Which, typename Removed>
  void RemoveAll(Which which, Removed removed) {
    for (std::size_t place = 0; place < capacity_;) {
      Record record = records_[place];
      // Remove() may move another record to this place, so the loop looks at the place again.
      if (record.key == 0 || !which(record) || !Remove(record.key, &record)) {
        ++place;
      } else {
        removed(record);
      }
    }
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kLeast = 1024;

  // Returns the Fibonacci hash of `key`: addresses differ in their middle bits.
  static std::size_t Hash(std::uint64_t key) {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 20);
  }

  // Returns the place that has the key, or the free place where it would go.
  std::size_t PlaceOf(std::uint64_t key) const {
    std::size_t place = Hash(key) & (capacity_ - 1);
    while (records_[place].key != 0 && records_[place].key != key) place = Next(place);
    return place;
  }
  std::size_t Next(std::size_t place) const { return (place + 1) & (capacity_ - 1); }

  bool Grow(std::size_t capacity) {
    auto* const grown = static_cast<Record*>(GetPages(capacity * sizeof(Record)));
    if (grown == nullptr) return false;
    Record* const old = records_;
    const std::size_t old_capacity = capacity_;
    records_ = grown;  // all zeros: no records
    capacity_ = capacity;
    for (std::size_t i = 0; i < old_capacity; ++i) {
      if (old[i].key != 0) records_[PlaceOf(old[i].key)] = old[i];
    }
    if (old != nullptr) ReturnPages(old, old_capacity * sizeof(Record));
    return true;
  }

  Record* records_ = nullptr;
  std::size_t capacity_ = 0;  // a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace crossover::memory
