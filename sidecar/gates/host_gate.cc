#include "sidecar/gates/host_gate.h"

#include "common/base/clock.h"
#include "common/base/futex.h"

namespace crossover::gates {
namespace {

constexpr std::int64_t kPatienceNs = base::kNsPerSecond;

// Waits until *word is at or past `value`. Stores by a GPU wake nobody: looks again every millisecond.
bool WaitFor(const std::uint32_t* word, std::uint32_t value, std::int64_t patience_ns) {
  const std::int64_t deadline = base::MonotonicNs() + patience_ns;
  while (true) {
    const std::uint32_t seen = base::LoadWord(word);
    if (turn::AtOrPast(seen, value)) return true;
    if (base::MonotonicNs() >= deadline) return false;
    base::FutexWait(word, seen, base::kNsPerMs);
  }
}

}  // namespace

bool HostGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self) {
  driver_ = driver;
  page_ = page;
  self_ = self;
  return driver->LaunchHostFunc != nullptr && driver->EventSynchronize != nullptr &&
         driver->EventCreate(&reached_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
}

bool HostGate::Acquire(CUstream stream, turn::TurnNumber k) {
  if (driver_->EventRecord(reached_, stream) != CUDA_SUCCESS ||
      driver_->EventSynchronize(reached_) != CUDA_SUCCESS) {
    return false;
  }
  WaitFor(&page_->slot[self_].rel, k - 1, kPatienceNs);
  for (const turn::Op& op : turn::Acquire(self_, k)) {
    if (op.kind == turn::Op::Kind::kWrite) {
      WriteOnHost(page_, op);
    } else if (!WaitFor(WordOf(page_, op.slot, op.word), op.value, kPatienceNs)) {
      OpenOwnGate(page_, self_, k);
      base::StoreWord(&page_->slot[self_].faults, base::LoadWord(&page_->slot[self_].faults) + 1);
    }
  }
  return true;
}

bool HostGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  PendingRelease& pending = pending_[k % kPending];
  pending = {page_, self_, k, handover};
  return driver_->LaunchHostFunc(stream, &HostGate::GiveBack, &pending) == CUDA_SUCCESS;
}

void HostGate::GiveBack(void* pending) {
  const auto* release = static_cast<const PendingRelease*>(pending);
  const Handover& handover = release->handover;
  for (const turn::Op& op : turn::Release(release->self, release->k, handover.successor, handover.open)) {
    WriteOnHost(release->page, op);
  }
}

}  // namespace crossover::gates
