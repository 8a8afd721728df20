#include "simgpu/machine/flow.h"

#include <algorithm>
#include <atomic>

#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/machine/report.h"
#include "simgpu/machine/state.h"

namespace simgpu {
namespace {

// A waiting thread sleeps for at most this long, because a waiting thread must notice dead processes.
constexpr Nanos kPoll = constants::kFlowPoll;

}  // namespace

Mark Flow::Extend(double work) { return Extend(work, demand_); }

Mark Flow::Extend(double work, double demand) {
  for (;;) {
    machine_->Lock(capacity_);
    Fluid& fluid = capacity_->fluid;
    if (!fluid.Full(tenant_)) {
      const bool co_ran = fluid.CoRuns();
      const Mark mark = fluid.Extend(tenant_, demand, Speed(demand), work);
      const bool sooner = !co_ran && fluid.CoRuns();  // running work may end sooner than forecast
      machine_->Unlock(capacity_);
      if (sooner) TellWaiters(capacity_);
      return mark;
    }
    const Mark soon = fluid.NextMark(tenant_);
    machine_->Unlock(capacity_);
    WaitServed(soon);
  }
}

Nanos Flow::WaitServed(Mark mark) { return WaitServedUntil(mark, kNever); }

Nanos Flow::WaitServedUntil(Mark mark, Nanos deadline) {
  bool waited = false;
  for (;;) {
    machine_->Lock(capacity_);
    const Fluid& fluid = capacity_->fluid;
    const bool reached = fluid.Served(tenant_) >= mark;
    const Nanos when = reached ? fluid.CrossedAt(tenant_, mark) : fluid.FinishTime(tenant_, mark);
    const Nanos now = fluid.now();
    const std::uint32_t seen = std::atomic_ref(capacity_->changed).load();
    machine_->Unlock(capacity_);
    if (reached) {
      if (waited && work_per_ns_ > 0) ReportLateness(Late::kKernel, when, MonotonicNow());
      return when;
    }
    if (now >= deadline) return kNever;
    SleepUntil(std::min({when, deadline, now + kPoll}), seen);
    waited = true;
  }
}

void Flow::SleepUntil(Nanos time, std::uint32_t seen) {
  SharpenTimers();
  std::atomic_ref waiters(capacity_->waiters);
  waiters.fetch_add(1);
  FutexWait(&capacity_->changed, seen, time);
  waiters.fetch_sub(1);
  machine_->ReapDead();
}

Nanos Flow::ReachedAt(Mark mark) {
  machine_->Lock(capacity_);
  const Fluid& fluid = capacity_->fluid;
  const Nanos when = fluid.Served(tenant_) >= mark ? fluid.CrossedAt(tenant_, mark) : kNever;
  machine_->Unlock(capacity_);
  return when;
}

Nanos Flow::Forecast(Mark mark) {
  machine_->Lock(capacity_);
  const Nanos when = capacity_->fluid.FinishTime(tenant_, mark);
  machine_->Unlock(capacity_);
  return when;
}

double Flow::Served() {
  machine_->Lock(capacity_);
  const double served = capacity_->fluid.Served(tenant_);
  machine_->Unlock(capacity_);
  return served;
}

Mark Flow::Target() {
  machine_->Lock(capacity_);
  const Mark target = capacity_->fluid.Target(tenant_);
  machine_->Unlock(capacity_);
  return target;
}

double Flow::Spare() {
  machine_->Lock(capacity_);
  const double spare = capacity_->fluid.Spare(tenant_);
  machine_->Unlock(capacity_);
  return spare;
}

bool Flow::Active() {
  machine_->Lock(capacity_);
  const bool active = capacity_->fluid.Active(tenant_);
  machine_->Unlock(capacity_);
  return active;
}

bool Flow::WaitActive(Nanos deadline) {
  for (;;) {
    machine_->Lock(capacity_);
    const bool active = capacity_->fluid.Active(tenant_);
    const Nanos when = capacity_->fluid.ActiveTime(tenant_);
    const Nanos now = capacity_->fluid.now();
    const std::uint32_t seen = std::atomic_ref(capacity_->changed).load();
    machine_->Unlock(capacity_);
    if (active || now >= deadline) return active;
    SleepUntil(std::min({when, deadline, now + kPoll}), seen);
  }
}

}  // namespace simgpu
