#include "sidecar/gates/host_gate.h"

#include "common/base/clock.h"
#include "common/base/futex.h"

namespace crossover::gates {
namespace {

// A waiter may wait for the turns of everybody before it, however long; only an arbiter that stands still for
// so long is taken for gone. It beats at every pass, ten times a second at least.
constexpr std::int64_t kPatienceNs = base::kNsPerSecond;

// Waits until *word is at or past `value`, as long as `beat` moves. Stores by a GPU wake nobody: looks again
// every millisecond.
bool WaitFor(const std::uint32_t* word, std::uint32_t value, const std::uint32_t* beat) {
  std::uint32_t last_beat = base::LoadWord(beat);
  std::int64_t deadline = base::MonotonicNs() + kPatienceNs;
  while (true) {
    const std::uint32_t seen = base::LoadWord(word);
    if (turn::AtOrPast(seen, value)) return true;
    const std::int64_t now = base::MonotonicNs();
    if (const std::uint32_t now_beat = base::LoadWord(beat); now_beat != last_beat) {
      last_beat = now_beat;
      deadline = now + kPatienceNs;
    }
    if (now >= deadline) return false;
    base::FutexWait(word, seen, base::kNsPerMs);
  }
}

}  // namespace

bool HostGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self) {
  driver_ = driver;
  page_ = page;
  self_ = self;
  return driver->LaunchHostFunc != nullptr && driver->EventSynchronize != nullptr &&
         (reached_ != nullptr || driver->EventCreate(&reached_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
}

bool HostGate::Acquire(CUstream stream, turn::TurnNumber k) {
  if (driver_->EventRecord(reached_, stream) != CUDA_SUCCESS ||
      driver_->EventSynchronize(reached_) != CUDA_SUCCESS) {
    return false;
  }
  // The turn before, which had one stretch, was given back.
  WaitFor(&page_->slot[self_].rel, turn::FirstStretch(turn::TurnOf(k) - 1), &page_->arbiter_beat);
  for (const turn::Op& op : turn::Acquire(self_, k)) {
    if (op.kind == turn::Op::Kind::kWrite) {
      WriteOnHost(page_, op);
    } else if (!WaitFor(WordOf(page_, op.slot, op.word), op.value, &page_->arbiter_beat)) {
      OpenOwnGate(page_, self_, k);
      base::StoreWord(&page_->slot[self_].faults, base::LoadWord(&page_->slot[self_].faults) + 1);
    }
  }
  return true;
}

bool HostGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  PendingRelease& pending = pending_[turn::TurnOf(k) % kPending];
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
