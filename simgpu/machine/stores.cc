// Keeps when streams wrote words, so that a stream of another process goes on a given time after the write,
// however late its own thread wakes up.
//
// Processes map a word at different addresses, but at the same place of a page. Place and value together name
// a store well enough: a wrong match moves one hand-over by less than the hand-over itself.
#include <atomic>

#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/machine/state.h"

namespace simgpu {
namespace {

constexpr std::uintptr_t kPage = 4096;

std::uint64_t KeyOf(std::uintptr_t address, std::uint32_t value) {
  return std::uint64_t{value} << 32 | (address % kPage) << 1 | 1;  // never 0
}

}  // namespace

void Machine::NoteStore(std::uintptr_t address, std::uint32_t value) {
  const std::uint32_t number = std::atomic_ref(state_->stores_made).fetch_add(1);
  SharedStore& store = state_->stores[number % kMaxStores];
  std::atomic_ref key(store.key);
  key.store(0);
  std::atomic_ref(store.time).store(MonotonicNow());
  key.store(KeyOf(address, value));
}

Nanos Machine::StoredAt(std::uintptr_t address, std::uint32_t value) const {
  const std::uint64_t wanted = KeyOf(address, value);
  const std::uint32_t made = std::atomic_ref(state_->stores_made).load();
  for (std::uint32_t back = 1; back <= kMaxStores; ++back) {
    SharedStore& store = state_->stores[(made - back) % kMaxStores];
    const std::atomic_ref key(store.key);
    if (key.load() != wanted) continue;
    const Nanos time = std::atomic_ref(store.time).load();
    if (key.load() == wanted) return time;
  }
  return kNever;
}

}  // namespace simgpu
