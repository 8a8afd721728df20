#include "sidecar/gates/gpu_gate.h"

#include <time.h>

#include <cstddef>

#include "common/base/futex.h"
#include "proto/signaller_protocol.h"
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

const turn::Op& OpOf(const turn::Op& op) { return op; }
const turn::Op& OpOf(const turn::SignalledOp& signalled) { return signalled.op; }

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
  signals_.store(Signals::kNone, std::memory_order_relaxed);
  awaited_.store(base::LoadWord(&page->slot[self].hold), std::memory_order_relaxed);
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
        log::Write(
            log::Level::kWarn,
            "the driver refuses memory barriers: for short times two jobs may have a turn at once; to "
            "exclude that, set CROSSOVER_GATES=relay in the environment of the job: those gates need no "
            "barriers");
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

void GpuGate::AwaitSignals(CUdeviceptr lines) {
  lines_.store(lines, std::memory_order_relaxed);
  signals_.store(Signals::kAwaited, std::memory_order_release);
}

void GpuGate::StopAwaiting() {
  Signals awaited = Signals::kAwaited;
  signals_.compare_exchange_strong(awaited, Signals::kWritten);
}

bool GpuGate::Acquire(CUstream stream, turn::TurnNumber k) {
  if (signals() == Signals::kAwaited) {
    // `k` is stored first: the thread that looks after this signal must never believe that no stream waits.
    awaited_.store(k, std::memory_order_release);
    if (EnqueueSignalled(stream, turn::AcquireBySignal(self_, k))) return true;
  }
  return Enqueue(stream, turn::Acquire(self_, k));
}

bool GpuGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  if (signals() != Signals::kNone &&
      EnqueueSignalled(stream, turn::ReleaseBySignal(self_, k, handover.successor, handover.open))) {
    return true;
  }
  return Enqueue(stream, turn::Release(self_, k, handover.successor, handover.open));
}

bool GpuGate::Yield(CUstream stream, turn::TurnNumber k) {
  if (signals() != Signals::kNone && EnqueueSignalled(stream, turn::YieldBySignal(self_, k))) return true;
  return Enqueue(stream, turn::Yield(self_, k));
}

CUdeviceptr GpuGate::AddressOf(const turn::Op& op) const {
  return page_ + offsetof(crossover_page, slot) + op.slot * sizeof(crossover_slot) + OffsetOf(op.word);
}

CUdeviceptr GpuGate::AddressOf(const turn::SignalledOp& signalled) const {
  if (signalled.target == turn::SignalledOp::Target::kPage) return AddressOf(signalled.op);
  return lines_.load(std::memory_order_relaxed) + signalled.op.slot * sizeof(crossover_signal_line) +
         offsetof(crossover_signal_line, signal);
}

template <typename AnyOp, std::size_t kCount>
bool GpuGate::Enqueue(CUstream stream, const std::array<AnyOp, kCount>& ops) const {
  std::array<CUstreamBatchMemOpParams, 2 * kCount> params;
  unsigned int count = 0;
  for (const AnyOp& any : ops) {
    const turn::Op& op = OpOf(any);
    const bool waits = op.kind == turn::Op::Kind::kWaitGeq;
    if (fenced_ && waits) params[count++] = BarrierParams();
    params[count++] = waits ? WaitParams(AddressOf(any), op.value) : WriteParams(AddressOf(any), op.value);
  }
  return driver_->StreamBatchMemOp(stream, count, params.data(), 0) == CUDA_SUCCESS;
}

// Returns false if the driver refuses, and uses no signals from then on.
template <std::size_t kCount>
bool GpuGate::EnqueueSignalled(CUstream stream, const std::array<turn::SignalledOp, kCount>& ops) {
  if (Enqueue(stream, ops)) return true;
  signals_.store(Signals::kNone, std::memory_order_release);
  return false;
}

}  // namespace crossover::gates
