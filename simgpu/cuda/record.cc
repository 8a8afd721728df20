#include "simgpu/cuda/record.h"

#include "simgpu/machine/os.h"

namespace simgpu {

std::shared_ptr<Record> Record::OfNow() {
  auto record = std::make_shared<Record>();
  record->Anchor(nullptr, 0, MonotonicNow());
  return record;
}

void Record::Anchor(std::shared_ptr<Flow> flow, Mark mark, Nanos time) {
  {
    const std::lock_guard lock(mutex_);
    flow_ = std::move(flow);
    mark_ = mark;
    if (flow_ == nullptr) time_ = time;
  }
  std::atomic_ref(anchored_).store(1);
  FutexWake(&anchored_);
}

void Record::Settle(Nanos time) {
  const std::lock_guard lock(mutex_);
  time_ = time;
  flow_ = nullptr;
}

Nanos Record::ReachedAt() {
  std::shared_ptr<Flow> flow;
  {
    const std::lock_guard lock(mutex_);
    if (flow_ == nullptr) return time_;
    flow = flow_;
  }
  const Nanos time = flow->ReachedAt(mark_);
  if (time != kNever) Settle(time);
  return time;
}

bool Record::Reached() { return ReachedAt() != kNever; }

Nanos Record::Wait() {
  while (std::atomic_ref(anchored_).load() == 0) FutexWait(&anchored_, 0, kNever);
  std::shared_ptr<Flow> flow;
  {
    const std::lock_guard lock(mutex_);
    if (flow_ == nullptr) return time_;
    flow = flow_;
  }
  const Nanos time = flow->WaitServed(mark_);
  Settle(time);
  return time;
}

bool Record::Precedes(const Flow* flow, Mark mark) {
  const std::lock_guard lock(mutex_);
  return time_ != kNever || (flow_.get() == flow && flow != nullptr && mark_ <= mark);
}

}  // namespace simgpu
