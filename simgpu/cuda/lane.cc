#include "simgpu/cuda/lane.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <thread>

#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/mps.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/machine/report.h"

namespace simgpu {
namespace {

class RecordWork final : public Work {
 public:
  explicit RecordWork(RecordPtr record) : record_(std::move(record)) {}
  bool IsRecord() const override { return true; }
  void Run(Lane& lane) const override { lane.Anchor(record_); }

 private:
  RecordPtr record_;
};

}  // namespace

std::shared_ptr<Lane> Lane::Start(int gpu) {
  std::shared_ptr<Lane> lane(new Lane(gpu));
  // Block all signals: the application's signals must not arrive on this library's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([lane] { lane->Loop(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return lane;
}

void Lane::Enqueue(WorkPtr work) {
  std::unique_lock lock(mutex_);
  WaitForRoom(lock);
  Append(std::move(work));
}

void Lane::EnqueueAtOnce(WorkPtr work) {
  const std::lock_guard lock(mutex_);
  Append(std::move(work));
}

void Lane::Append(WorkPtr work) {
  queue_.push_back(std::move(work));
  tail_ = nullptr;
  used_ = true;
  if (!dozing_) filled_.notify_one();
}

void Lane::WaitForRoom(std::unique_lock<std::mutex>& lock) {
  const auto depth = static_cast<std::size_t>(Machine::Get()->config().queue_depth);
  while (queue_.size() + begun_at_.size() >= depth) {
    if (begun_at_.empty()) {
      if (dozing_) filled_.notify_one();
      emptied_.wait(lock);
      continue;
    }
    const double served = flow_->Served();
    if (begun_at_.front() <= served) {
      begun_at_.erase(begun_at_.begin(), std::upper_bound(begun_at_.begin(), begun_at_.end(), served));
      continue;
    }
    const Mark oldest = begun_at_.front();
    lock.unlock();
    flow_->WaitServed(oldest);
    lock.lock();
  }
}

RecordPtr Lane::Tail() {
  const std::lock_guard lock(mutex_);
  if (tail_ == nullptr) {
    tail_ = std::make_shared<Record>();
    queue_.push_back(std::make_shared<RecordWork>(tail_));
    if (!dozing_) filled_.notify_one();
  }
  return tail_;
}

bool Lane::Idle() {
  {
    const std::lock_guard lock(mutex_);
    if (!used_) return true;
  }
  return Tail()->Reached();
}

void Lane::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  filled_.notify_one();
}

bool Lane::Take(WorkPtr* work) {
  std::unique_lock lock(mutex_);
  const bool empty = queue_.empty();
  while (queue_.empty() && !stopping_) {
    // New work stands behind the kernels that run now. They end earliest if they have the whole GPU from now
    // on. Until that time the thread need not be woken for new work.
    const double left = flow_ == nullptr ? 0 : mark_ - flow_->Served();
    const Nanos doze = static_cast<Nanos>(left) - constants::kDozeMargin;
    if (doze <= 0) {
      filled_.wait(lock);
    } else {
      dozing_ = true;
      filled_.wait_for(lock, std::chrono::nanoseconds(std::min<Nanos>(doze, constants::kLongestDoze)));
      dozing_ = false;
    }
  }
  if (empty) {
    payback_.Clear();
    filled_at_ = MonotonicNow();
    spare_at_fill_ = flow_ == nullptr ? 0 : flow_->Spare();
  }
  if (queue_.empty()) return false;
  *work = std::move(queue_.front());
  queue_.pop_front();
  emptied_.notify_all();
  return true;
}

void Lane::Loop() {
  pthread_setname_np(pthread_self(), "simgpu-stream");
  ActAsHardware();
  WorkPtr work;
  long done = 0;
  while (Take(&work)) {
    const long stuck_after = Faults().stuck_after;
    while (stuck_after >= 0 && done >= stuck_after) pause();
    ++done;
    if (!Lost() || work->IsRecord()) work->Run(*this);
    work = nullptr;
    ResolveRecords();
  }
  Drain();
  ResolveRecords();
}

Flow* Lane::OpenFlow() {
  if (flow_ != nullptr) return flow_.get();
  std::shared_ptr<Flow> flow = Machine::Get()->OpenGpu(gpu_, ActiveThreadLimit(gpu_));
  if (flow == nullptr) {
    std::fprintf(stderr, "simgpu: GPU %d runs kernels of 128 streams already; this stream's take no time\n",
                 gpu_);
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  flow_ = std::move(flow);
  return flow_.get();
}

void Lane::RunKernel(double ns, double sms) {
  ReportKernel();
  Flow* flow = OpenFlow();
  if (flow == nullptr) return;
  sms = Asked(sms, *flow);
  ns -= payback_.TakeOff(ns, sms);
  const Mark end = flow->Extend(ns, sms);
  const std::lock_guard lock(mutex_);
  begun_at_.push_back(end - ns);
  mark_ = end;
}

// Returns the SMs that the next kernel asks for: what it says, or less if the machine has a mix of kernels.
double Lane::Asked(double sms, const Flow& flow) {
  const std::vector<double>& mix = Machine::Get()->config().kernel_mix;
  if (mix.empty()) return sms;
  const double percent = mix[kernels_++ % mix.size()];
  return std::min(sms, std::max(1.0, std::floor(percent * flow.demand() / 100)));
}

void Lane::HoldUntil(double sms, Nanos at_least, const std::function<void()>& wait) {
  ReportKernel();
  Drain();
  Flow* flow = OpenFlow();
  if (flow == nullptr) return wait();
  const Mark enough = flow->Served() + static_cast<double>(at_least);
  flow->Hold(sms);
  flow->WaitActive(kNever);  // begins once its process has the GPU and, with when_free, its SMs
  const Mark had = flow->Served();
  const Nanos from = MonotonicNow();
  wait();
  // Beside kernels a collective may advance more slowly than time passes. It makes up for that here.
  const MachineConfig& config = Machine::Get()->config();
  const bool slow = config.mode == ShareMode::kShared && config.collective_slowdown > 0;
  flow->WaitServed(std::max(enough, slow ? had + static_cast<double>(MonotonicNow() - from) : had));
  // A spinning kernel sees its word only while it runs.
  flow->WaitActive(kNever);
  flow->Hold(0);
  const Mark end = flow->Served();
  const std::lock_guard lock(mutex_);
  mark_ = end;
}

void Lane::Drain() {
  if (flow_ != nullptr) flow_->WaitServed(mark_);
}

void Lane::SetBlocked(WordPlace at) {
  if (Flow* flow = OpenFlow(); flow != nullptr) flow->SetBlocked(at);
}

std::optional<WordCondition> Lane::NextWait() {
  const std::lock_guard lock(mutex_);
  return queue_.empty() ? std::nullopt : queue_.front()->FirstWait();
}

void Lane::PassedIn(bool waited) {
  const Nanos ended = waited || flow_ == nullptr ? kNever : flow_->ReachedAt(mark_);
  if (ended == kNever) return payback_.Clear();
  const bool was_empty = filled_at_ > ended;
  const double spare = flow_->Spare() - (was_empty ? spare_at_fill_ : 0);
  payback_.Owe(MonotonicNow() - std::max(ended, filled_at_), spare);
}

void Lane::Anchor(const RecordPtr& record) {
  {
    // A thread that waited for the last event of a stream must find the stream idle.
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) tail_ = record;
  }
  // On an idle stream, an event is reached when the GPU comes to it. That is now, or earlier by as much as
  // this thread is late.
  if (flow_ == nullptr) return record->Anchor(nullptr, 0, MonotonicNow());
  if (const Nanos ended = flow_->ReachedAt(mark_); ended != kNever) {
    const Nanos came = MonotonicNow() - payback_.Behind(flow_->demand());
    return record->Anchor(nullptr, 0, std::max(came, ended));
  }
  record->Anchor(flow_, mark_, kNever);
  unresolved_.emplace_back(mark_, record);
}

// Makes reached records note their times. A flow keeps only a limited past, so this must happen soon after
// the record is reached.
void Lane::ResolveRecords() {
  if (unresolved_.empty()) return;
  const double served = flow_->Served();
  while (!unresolved_.empty() && unresolved_.front().first <= served) {
    if (const RecordPtr record = unresolved_.front().second.lock()) record->ReachedAt();
    unresolved_.pop_front();
  }
}

void Lane::WaitFor(const RecordPtr& record) {
  if (record->Precedes(flow_.get(), mark_)) return;
  record->Wait();
}

}  // namespace simgpu
