// Locks capacities, and removes what dead processes leave on the machine.
#include <atomic>

#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/machine/state.h"

namespace simgpu {
namespace {

constexpr Nanos kReapInterval = constants::kReapInterval;

}  // namespace

void TellWaiters(SharedCapacity* capacity) {
  std::atomic_ref(capacity->changed).fetch_add(1);
  if (std::atomic_ref(capacity->waiters).load() != 0) FutexWake(&capacity->changed);
}

void Machine::Lock(SharedCapacity* capacity) {
  // The lock may come from a process that died while it held it. Each of its stores was whole, so at worst
  // some tenants were served twice for one step. ReapDead() removes the tenants of that process.
  LockShared(&capacity->lock, clients_.token(), &clients_);
  capacity->fluid.Advance(MonotonicNow());
}

void Machine::Unlock(SharedCapacity* capacity) { UnlockShared(&capacity->lock); }

void Machine::ReapDead(bool now) {
  const Nanos time = MonotonicNow();
  std::atomic_ref last(state_->last_reap);
  std::int64_t before = last.load();
  if (!now && time - before < kReapInterval) return;
  if (!last.compare_exchange_strong(before, time) && !now) return;
  bool died = false;
  for (int entry = 0; entry < kMaxClients; ++entry) {
    std::atomic_ref token(state_->clients[entry].token);
    std::uint32_t dead = token.load();
    if (dead == 0 || !clients_.EntryIsDead(entry) || !token.compare_exchange_strong(dead, 0)) continue;
    for (SharedGpu& gpu : state_->gpus) {
      if (gpu.memory_bytes == 0) continue;
      Lock(&gpu.compute);
      gpu.used_bytes[entry] = gpu.contexts[entry] = 0;
      Unlock(&gpu.compute);
    }
    died = true;
  }
  if (!died) return;
  for (SharedCapacity& link : state_->links) {
    if (link.place != 0) RemoveDeadTenants(&link);
  }
  for (SharedGpu& gpu : state_->gpus) {
    if (gpu.memory_bytes != 0) RemoveDeadTenants(&gpu.compute);
  }
}

void Machine::RemoveDeadTenants(SharedCapacity* capacity) {
  Lock(capacity);
  bool removed = false;
  for (int tenant = 0; tenant < Fluid::kTenants; ++tenant) {
    if (!capacity->fluid.Used(tenant) || clients_.Listed(capacity->fluid.Group(tenant))) continue;
    capacity->fluid.Remove(tenant);
    removed = true;
  }
  Unlock(capacity);
  if (removed) TellWaiters(capacity);
}

Flow::~Flow() {
  machine_->Lock(capacity_);
  capacity_->fluid.Remove(tenant_);
  machine_->Unlock(capacity_);
  TellWaiters(capacity_);
}

void Flow::Hold(double demand) {
  if (demand > 0) WaitServed(Target());
  machine_->Lock(capacity_);
  capacity_->fluid.SetSpinning(tenant_, demand);
  machine_->Unlock(capacity_);
  if (demand <= 0) TellWaiters(capacity_);
}

void Flow::SetBlocked(WordPlace at) {
  machine_->Lock(capacity_);
  capacity_->fluid.SetBlocked(tenant_, at);
  machine_->Unlock(capacity_);
  if (at == WordPlace::kNone) TellWaiters(capacity_);  // kernels may end sooner than forecast
}

}  // namespace simgpu
