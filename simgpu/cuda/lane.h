// A hardware queue: a thread that runs work in order against the stream's flow on the GPU. Usually each
// stream has its own; the fault `queues:N` lets streams share N of them.
//
// The thread runs ahead of the GPU: kernels and event records only extend the flow, so that kernels chain on
// logical time however late the thread is. It comes to a stop at work that needs everything before it to be
// done (a wait, a copy, a host function): a barrier. Memory operations that find what they wait for stop a
// GPU for next to nothing, but they stop the thread until it is woken: the kernel behind them, if it is
// queued by then, makes up for that.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "simgpu/cuda/payback.h"
#include "simgpu/cuda/record.h"
#include "simgpu/cuda/work.h"
#include "simgpu/machine/flow.h"

namespace simgpu {

class Lane {
 public:
  // `gpu` is the GPU's place on this node. The thread lives as long as the process or until Stop().
  static std::shared_ptr<Lane> Start(int gpu);

  // Blocks while `queue_depth` pieces of work have not begun, whatever they are: so may a driver, and it has
  // one queue for launches, records, waits and memory operations.
  void Enqueue(WorkPtr work);
  // Never blocks: for what the driver adds by itself, with a lock held.
  void EnqueueAtOnce(WorkPtr work);
  // A record of everything enqueued so far; the same one again when nothing was enqueued since.
  RecordPtr Tail();
  // True when everything enqueued so far is done.
  bool Idle();
  // Ends the thread once it has run what is queued.
  void Stop();

  // For work, on the lane's thread only:
  void RunKernel(double ns, double sms);
  void HoldUntil(double sms, Nanos at_least, const std::function<void()>& wait);
  // Waits until all kernels given so far are done.
  void Drain();
  // The work just run took the GPU no time, or, if it `waited`, as long as it took. By how much the thread
  // was too late for it is taken off the next kernels.
  void PassedIn(bool waited);
  void Anchor(const RecordPtr& record);
  void WaitFor(const RecordPtr& record);

 private:
  explicit Lane(int gpu) : gpu_(gpu) {}
  void Loop();
  // Sleeps until there is work, lazily while the GPU is busy anyway. False when stopped.
  bool Take(WorkPtr* work);
  void WaitForRoom(std::unique_lock<std::mutex>& lock);
  void Append(WorkPtr work);
  Flow* OpenFlow();
  double Asked(double sms, const Flow& flow);
  void ResolveRecords();

  const int gpu_;
  std::mutex mutex_;
  std::condition_variable filled_, emptied_;
  std::deque<WorkPtr> queue_;
  std::deque<Mark> begun_at_;  // begin of each launch handed to the flow, until it has been reached
  RecordPtr tail_;             // stands behind everything enqueued; null when none does
  bool used_ = false;          // anything was ever enqueued
  bool stopping_ = false;
  bool dozing_ = false;  // the thread will look at the queue in time without being woken

  std::shared_ptr<Flow> flow_;  // the lane's thread only; set once
  Mark mark_ = 0;               // end of the last kernel given
  Payback payback_;
  Nanos filled_at_ = 0;       // since when the queue has not been found empty
  double spare_at_fill_ = 0;  // of the flow at that time
  std::size_t kernels_ = 0;   // that were run
  std::deque<std::pair<Mark, std::weak_ptr<Record>>> unresolved_;
};

}  // namespace simgpu
