#include "sidecar/gates/relay_gate.h"

#include <cstring>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"
#include "sidecar/gates/probe.h"
#include "sidecar/threads/thread.h"

namespace crossover::gates {

bool RelayGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self) {
  if (!HasMemoryOperations(*driver) || driver->MemHostAlloc == nullptr || driver->LaunchHostFunc == nullptr)
    return false;
  driver_ = driver;
  page_ = page;
  self_ = self;
  if (lines_ == nullptr) {
    void* memory = nullptr;
    if (driver->MemHostAlloc(&memory, sizeof(Line) * kLines,
                             CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) {
      return false;
    }
    memset(memory, 0, sizeof(Line) * kLines);
    lines_ = static_cast<Line*>(memory);
  }
  if (lines_on_gpu_ == 0) {
    CUdeviceptr on_gpu = 0;
    if (driver->MemHostGetDevicePointer(&on_gpu, lines_, 0) != CUDA_SUCCESS) return false;
    lines_on_gpu_ = on_gpu;
  }
  line_ = (line_ + 1) % kLines;
  const std::uint32_t now = base::LoadWord(&page->slot[self].rel);
  base::StoreWord(&lines_[line_].open, now);
  if (!ProbeWait(*driver, lines_on_gpu_ + line_ * sizeof(Line), now)) return false;
  started_ = started_ || threads::StartThread(&RelayGate::Relay, this);
  return started_;
}

void RelayGate::LeaveMemory() {
  const base::Locked locked(memory_mutex_);
  if (left_.exchange(true)) return;  // the lines may be gone
  for (const Ask& ask : asks_) {
    if (ask.state.load() == kFree) continue;
    if (!turn::AtOrPast(base::LoadWord(&ask.line->open), ask.k)) Open(ask);
  }
}

void RelayGate::Open(const Ask& ask) {
  base::StoreWord(&ask.line->open, ask.k);
  base::FutexWakeAll(&ask.line->open);
}

bool RelayGate::Acquire(CUstream stream, turn::TurnNumber k) {
  const auto ops = turn::Acquire(self_, k);
  return Enqueue(stream, k, ops.data(), ops.size());
}

bool RelayGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  // The turnstile does not know of this turn. To give it back would let two clients in.
  if (skipped_) return true;
  return releases_.Queue(*driver_, stream, page_, self_, k, handover);
}

bool RelayGate::Yield(CUstream stream, turn::TurnNumber k) {
  const auto ops = turn::Yield(self_, k);
  return Enqueue(stream, turn::NextStretch(k), ops.data(), ops.size());
}

// Queues a host function that asks for the turn, and a wait for the line that the relay opens. Returns false
// if nothing was queued. The driver may refuse the wait when the host function is queued already. If the
// stream has not reached the host function by then, the ask is withdrawn and counts as not queued. If it has,
// the relay takes the turn, and the stream does not wait for it.
//
// After LeaveMemory() the relay opens no line. So this queues nothing then, returns true, and the stream goes
// on. Either this sees that the lines are left, or LeaveMemory() sees the ask and opens its line.
bool RelayGate::Enqueue(CUstream stream, turn::TurnNumber k, const turn::Op* ops, std::size_t count) {
  Ask& ask = asks_[next_ask_];
  if (ask.state.load(std::memory_order_acquire) != kFree) return false;
  next_ask_ = (next_ask_ + 1) % kAsks;
  ask.gate = this;
  ask.page = page_;
  ask.line = &lines_[line_];
  ask.self = self_;
  ask.k = k;
  ask.count = static_cast<std::uint32_t>(count);
  ask.before_wait = 0;
  for (std::size_t i = 0; i < count; ++i) ask.ops[i] = ops[i];
  while (ops[ask.before_wait].kind == turn::Op::Kind::kWrite) ++ask.before_wait;
  ask.state.store(kQueued);
  if (left_.load()) {
    ask.state.store(kFree, std::memory_order_release);
    skipped_ = true;
    return true;
  }
  if (driver_->LaunchHostFunc(stream, &RelayGate::OnReached, &ask) != CUDA_SUCCESS) {
    ask.state.store(kFree, std::memory_order_release);
    return false;
  }
  CUstreamBatchMemOpParams wait = WaitParams(lines_on_gpu_ + line_ * sizeof(Line), k);
  if (driver_->StreamBatchMemOp(stream, 1, &wait, 0) == CUDA_SUCCESS) return true;
  std::uint32_t state = kQueued;
  return !ask.state.compare_exchange_strong(state, kWithdrawn);
}

// Executes the operations before the wait, and hands the ask to the relay. Never blocks: it runs on the
// driver's thread, which executes the host functions of other streams too.
void RelayGate::OnReached(void* passed) {
  Ask* ask = static_cast<Ask*>(passed);
  std::uint32_t state = kQueued;
  if (!ask->state.compare_exchange_strong(state, kAsked)) {
    ask->state.store(kFree, std::memory_order_release);
    return;
  }
  RelayGate* gate = ask->gate;
  CarryOut(ask->page, ask->self, ask->k, ask->ops.data(), ask->before_wait);
  ask->next = gate->asked_.load(std::memory_order_relaxed);
  while (!gate->asked_.compare_exchange_weak(ask->next, ask, std::memory_order_release)) {
  }
  __atomic_fetch_add(&gate->bell_, 1, __ATOMIC_RELEASE);
  base::FutexWakeAll(&gate->bell_);
}

void* RelayGate::Relay(void* self) {
  threads::NameThread();
  auto* gate = static_cast<RelayGate*>(self);
  while (true) {
    const std::uint32_t heard = base::LoadWord(&gate->bell_);
    Ask* asked = gate->asked_.exchange(nullptr, std::memory_order_acquire);
    if (asked == nullptr) base::FutexWait(&gate->bell_, heard, 3600 * base::kNsPerSecond);
    Ask* oldest = nullptr;
    while (asked != nullptr) {
      Ask* const next = asked->next;
      asked->next = oldest;
      oldest = asked;
      asked = next;
    }
    while (oldest != nullptr) {
      Ask* const next = oldest->next;
      gate->Pass(oldest);
      oldest = next;
    }
  }
}

void RelayGate::Pass(Ask* ask) {
  CarryOut(ask->page, ask->self, ask->k, ask->ops.data() + ask->before_wait, ask->count - ask->before_wait);
  {
    const base::Locked locked(memory_mutex_);
    if (!left_.load(std::memory_order_relaxed)) Open(*ask);
  }
  ask->state.store(kFree, std::memory_order_release);
}

}  // namespace crossover::gates
