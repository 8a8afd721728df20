#include "deviceplugin/arbiter/page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "common/base/futex.h"
#include "turn/slice.h"

namespace crossover::arbiter {
namespace {

static_assert(turn::kMaxSlots == CROSSOVER_MAX_CLIENTS, "the turn core and the page agree on the slots");
static_assert(turn::kMaxTurns == CROSSOVER_MAX_TURNS, "and on the turns");
static_assert(turn::kMostSliceBits == CROSSOVER_MOST_SLICE_BITS, "and on the slices");

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::string Failure(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

}  // namespace

std::unique_ptr<Page> Page::Create(std::string* error) {
  base::UniqueFd fd(memfd_create("crossover-turnstile", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    *error = Failure("memory for a turnstile cannot be made");
    return nullptr;
  }
  if (ftruncate(fd.get(), sizeof(crossover_page)) != 0 || fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) {
    *error = Failure("a turnstile cannot be sized and sealed");
    return nullptr;
  }
  void* memory = mmap(nullptr, sizeof(crossover_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    *error = Failure("a turnstile cannot be mapped");
    return nullptr;
  }
  auto* page = new (memory) crossover_page{};
  page->magic = CROSSOVER_TURNSTILE_MAGIC;
  page->version = CROSSOVER_TURNSTILE_VERSION;
  page->bytes = sizeof(crossover_page);
  page->clients = CROSSOVER_MAX_CLIENTS;
  return std::unique_ptr<Page>(new Page(std::move(fd), page));
}

Page::~Page() { munmap(page_, sizeof(crossover_page)); }

void Page::ResetSlot(turn::SlotIndex index) const {
  crossover_slot& slot = page_->slot[index];
  Atomic(slot.gate).store(0);
  for (std::uint32_t* word :
       {&slot.ready, &slot.hold, &slot.rel, &slot.mode, &slot.slice_bits, &slot.alive, &slot.phase,
        &slot.faults, &slot.heartbeat, &slot.turns, &slot.turn_launches, &slot.iteration_offset,
        &slot.periods, &slot.iteration, &slot.turns_last, &slot.watch_reason, &slot.memory_budget_mib,
        &slot.memory_used_mib, &slot.memory_refusals}) {
    Atomic(*word).store(0);
  }
  for (std::uint32_t& successor : slot.successor) Atomic(successor).store(0);
  for (std::uint32_t& launches : slot.stretch_launches) Atomic(launches).store(0);
}

std::uint32_t& PageMemory::At(turn::SlotIndex index, turn::Word word) const {
  crossover_slot& slot = page_->slot[index];
  switch (word) {
    case turn::Word::kReady:
      return slot.ready;
    case turn::Word::kHold:
      return slot.hold;
    case turn::Word::kRel:
      return slot.rel;
    case turn::Word::kGate:
      break;
  }
  return slot.gate;
}

bool PageMemory::SwapGate(turn::SlotIndex slot, std::uint32_t expected, std::uint32_t desired) const {
  std::uint32_t& gate = page_->slot[slot].gate;
  if (!Atomic(gate).compare_exchange_strong(expected, desired)) return false;
  base::FutexWakeAll(&gate);
  return true;
}

}  // namespace crossover::arbiter
