#include "sidecar/gates/gpu_gate.h"

#include <time.h>

#include <cstddef>

#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"
#include "sidecar/gates/probe.h"
#include "sidecar/log/log.h"

namespace crossover::gates {
namespace {

std::size_t OffsetOf(turn::Word word) {
  switch (word) {
    case turn::Word::kReady:
      return offsetof(crossover_slot, ready);
    case turn::Word::kHold:
      return offsetof(crossover_slot, hold);
    case turn::Word::kRel:
      return offsetof(crossover_slot, rel);
    case turn::Word::kGate:
      break;
  }
  return offsetof(crossover_slot, gate);
}

// Waits until the word has this value, for a second at most, because a store of a GPU may arrive late.
// Returns whether it has. Gives up when the process ends.
bool Arrives(const std::uint32_t* word, std::uint32_t value, const std::atomic<bool>* ending) {
  constexpr int kLooks = 1000;
  for (int look = 0; look < kLooks; ++look) {
    if (base::LoadWord(word) == value) return true;
    if (ending != nullptr && ending->load(std::memory_order_relaxed)) return false;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace

bool GpuGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self,
                    const std::atomic<bool>* ending) {
  if (!HasMemoryOperations(*driver) || driver->MemHostRegister == nullptr ||
      driver->MemHostUnregister == nullptr) {
    return false;
  }
  driver_ = driver;
  self_ = self;
  if (driver->MemHostRegister(page, sizeof *page,
                              CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS) {
    return false;
  }
  const std::uint32_t* const word = &page->slot[self].heartbeat;
  const std::uint32_t value = base::LoadWord(word) + 1;
  if (driver->MemHostGetDevicePointer(&page_, page, 0) == CUDA_SUCCESS) {
    fenced_ = Try(value, true);
    if ((fenced_ || Try(value, false)) && Arrives(word, value, ending)) {
      if (!fenced_) {
        log::Write(log::Level::kWarn,
                   "the driver refuses memory barriers: two jobs may have a turn at once, now and then "
                   "(CROSSOVER_GATES=relay needs no barriers)");
      }
      return true;
    }
  }
  driver->MemHostUnregister(page);
  return false;
}

// Tries the operations of a turn: a store of `value` to this client's heartbeat, which no turn depends on, a
// barrier if `fenced`, and a wait for the page's magic word, which has the awaited value already.
bool GpuGate::Try(std::uint32_t value, bool fenced) const {
  const CUdeviceptr slot = page_ + offsetof(crossover_page, slot) + self_ * sizeof(crossover_slot);
  std::array<CUstreamBatchMemOpParams, 3> operations;
  unsigned int count = 0;
  operations[count++] = WriteParams(slot + offsetof(crossover_slot, heartbeat), value);
  if (fenced) operations[count++] = BarrierParams();
  operations[count++] = WaitParams(page_ + offsetof(crossover_page, magic), CROSSOVER_TURNSTILE_MAGIC);
  return Probe(*driver_, operations.data(), count);
}

bool GpuGate::Acquire(CUstream stream, turn::TurnNumber k) {
  return Enqueue(stream, turn::Acquire(self_, k));
}

bool GpuGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  return Enqueue(stream, turn::Release(self_, k, handover.successor, handover.open));
}

bool GpuGate::Yield(CUstream stream, turn::TurnNumber k) { return Enqueue(stream, turn::Yield(self_, k)); }

CUstreamBatchMemOpParams GpuGate::Translate(const turn::Op& op) const {
  const CUdeviceptr address =
      page_ + offsetof(crossover_page, slot) + op.slot * sizeof(crossover_slot) + OffsetOf(op.word);
  const bool waits = op.kind == turn::Op::Kind::kWaitGeq;
  return waits ? WaitParams(address, op.value) : WriteParams(address, op.value);
}

template <std::size_t kCount>
bool GpuGate::Enqueue(CUstream stream, const std::array<turn::Op, kCount>& ops) const {
  std::array<CUstreamBatchMemOpParams, 2 * kCount> params;
  unsigned int count = 0;
  for (const turn::Op& op : ops) {
    if (fenced_ && op.kind == turn::Op::Kind::kWaitGeq) params[count++] = BarrierParams();
    params[count++] = Translate(op);
  }
  return driver_->StreamBatchMemOp(stream, count, params.data(), 0) == CUDA_SUCCESS;
}

}  // namespace crossover::gates
