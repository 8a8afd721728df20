#include "sidecar/memory/table.h"

#include <sys/mman.h>

namespace crossover::memory {
namespace {

constexpr std::size_t kLeast = 1024;

// Returns the Fibonacci hash of `key`: addresses differ in their middle bits.
std::size_t Hash(std::uint64_t key) { return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 20); }

}  // namespace

bool Table::MakeRoom(std::size_t more) {
  const std::size_t wanted = 2 * (size_ + more);
  if (wanted <= capacity_) return true;
  std::size_t capacity = capacity_ == 0 ? kLeast : capacity_;
  while (capacity < wanted) capacity *= 2;
  return Grow(capacity);
}

bool Table::Grow(std::size_t capacity) {
  void* memory =
      ::mmap(nullptr, capacity * sizeof(Record), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  Record* const old = records_;
  const std::size_t old_capacity = capacity_;
  records_ = static_cast<Record*>(memory);  // all zeros: no records
  capacity_ = capacity;
  for (std::size_t i = 0; i < old_capacity; ++i) {
    if (old[i].key != 0) records_[PlaceOf(old[i].key)] = old[i];
  }
  if (old != nullptr) ::munmap(old, old_capacity * sizeof(Record));
  return true;
}

// Returns the place that has the key, or the free place where it would go.
std::size_t Table::PlaceOf(std::uint64_t key) const {
  std::size_t place = Hash(key) & (capacity_ - 1);
  while (records_[place].key != 0 && records_[place].key != key) place = Next(place);
  return place;
}

bool Table::Put(const Record& record) {
  if (!MakeRoom(1)) return false;
  Record& place = records_[PlaceOf(record.key)];
  if (place.key == 0) ++size_;
  place = record;
  return true;
}

Record* Table::Find(std::uint64_t key) {
  if (key == 0 || capacity_ == 0) return nullptr;  // 0 is the key of an empty place
  Record& record = records_[PlaceOf(key)];
  return record.key == key ? &record : nullptr;
}

bool Table::Remove(std::uint64_t key, Record* removed) {
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

const Record* Table::Containing(std::uint64_t key) const {
  for (std::size_t i = 0; i < capacity_; ++i) {
    if (records_[i].key != 0 && key - records_[i].key < records_[i].bytes) return &records_[i];
  }
  return nullptr;
}

}  // namespace crossover::memory
