#include "sidecar/gates/host_steps.h"

#include <atomic>

#include "common/base/clock.h"
#include "common/base/futex.h"

namespace crossover::gates {

// Looks at the word every millisecond, because a store by a GPU wakes no thread.
bool WaitFor(const std::uint32_t* word, std::uint32_t value, const std::uint32_t* beat,
             std::int64_t deadline) {
  std::uint32_t last_beat = beat == nullptr ? 0 : base::LoadWord(beat);
  while (true) {
    const std::uint32_t seen = base::LoadWord(word);
    if (turn::AtOrPast(seen, value)) return true;
    const std::int64_t now = base::MonotonicNs();
    if (beat != nullptr && base::LoadWord(beat) != last_beat) {
      last_beat = base::LoadWord(beat);
      deadline = now + kPatienceNs;
    }
    if (now >= deadline) return false;
    base::FutexWait(word, seen, base::kNsPerMs);
  }
}

void CarryOut(crossover_page* page, turn::SlotIndex self, turn::TurnNumber k, const turn::Op* ops,
              std::size_t count) {
  for (const turn::Op* op = ops; op != ops + count; ++op) {
    if (op->kind == turn::Op::Kind::kWrite) {
      WriteOnHost(page, *op);
      continue;
    }
    // Orders what was written before what is read, as the barrier of a GPU gate does.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!WaitFor(WordOf(page, op->slot, op->word), op->value, &page->arbiter_beat,
                 base::MonotonicNs() + kPatienceNs)) {
      OpenOwnGate(page, self, k);
      base::StoreWord(&page->slot[self].faults, base::LoadWord(&page->slot[self].faults) + 1);
    }
  }
}

bool HostReleases::Queue(const Driver& driver, CUstream stream, crossover_page* page, turn::SlotIndex self,
                         turn::TurnNumber k, Handover handover) {
  Pending& pending = pending_[turn::TurnOf(k) % kPending];
  if (base::LoadWord(&pending.queued) != 0) return false;
  pending = {page, self, k, handover, 1};
  if (driver.LaunchHostFunc(stream, &HostReleases::GiveBack, &pending) == CUDA_SUCCESS) return true;
  base::StoreWord(&pending.queued, 0);
  return false;
}

void HostReleases::Await(const crossover_page* page, turn::TurnNumber k, std::int64_t deadline) const {
  const Pending& pending = pending_[turn::TurnOf(k) % kPending];
  while (base::LoadWord(&pending.queued) != 0 && pending.page == page && pending.k == k &&
         base::MonotonicNs() < deadline) {
    base::FutexWait(&pending.queued, 1, base::kNsPerMs);
  }
}

void HostReleases::GiveBack(void* pending) {
  auto* release = static_cast<Pending*>(pending);
  const auto ops =
      turn::Release(release->self, release->k, release->handover.successor, release->handover.open);
  CarryOut(release->page, release->self, release->k, ops.data(), ops.size());
  base::StoreWord(&release->queued, 0);
}

}  // namespace crossover::gates
