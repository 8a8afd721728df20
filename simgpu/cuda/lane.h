// Runs a hardware queue: a thread that runs work in order against the stream's flow on the GPU. Usually each
// stream has its own lane. If channels run in order (channels.h), the streams of one share it.
//
// The thread runs ahead of the GPU. Kernels and event records only extend the flow, so kernels follow each
// other in logical time however late the thread is. The thread stops at a barrier: work that needs all
// earlier work to be done (a wait, a copy, a host function). A memory operation whose condition already
// holds costs a GPU next to nothing, but the thread stops for it until it is woken. The kernel behind it,
// if it is queued by then, makes up for that.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "simgpu/cuda/payback.h"
#include "simgpu/cuda/record.h"
#include "simgpu/cuda/work.h"
#include "simgpu/machine/flow.h"

namespace simgpu {

// A Lane is one hardware queue with its thread. Unless a comment says otherwise, any thread may call its
// functions.
class Lane {
 public:
  // Starts a lane and returns it. `gpu` is the GPU's place on this node. The thread lives as long as the
  // process or until Stop().
  static std::shared_ptr<Lane> Start(int gpu);

  // Appends work. Blocks while `queue_depth` pieces of work of any kind have not begun. A driver may do the
  // same: it has one queue for launches, records, waits and memory operations.
  void Enqueue(WorkPtr work);
  // Appends work and never blocks. It serves for work that the driver adds by itself with a lock held.
  void EnqueueAtOnce(WorkPtr work);
  // Returns a record of all work enqueued so far. Returns the same record again if nothing was enqueued
  // since.
  RecordPtr Tail();
  // Returns true if all work enqueued so far is done.
  bool Idle();
  // Makes the thread end once it has run what is queued.
  void Stop();

  // The functions below are for work, on the lane's thread only.
  //
  // Returns the GPU's place on this node.
  int gpu() const { return gpu_; }
  // Gives the flow a kernel of `ns` at full speed that asks for `sms`. Does not wait for it.
  void RunKernel(double ns, double sms);
  // Runs a spinning kernel: waits for all earlier kernels, holds `sms` while wait() runs, and for at least
  // `at_least` ns, and then lets go.
  void HoldUntil(double sms, Nanos at_least, const std::function<void()>& wait);
  // Blocks until all kernels given so far are done.
  void Drain();
  // Ends a piece of work that took no time on the GPU, or that `waited` as a GPU would. Unless it waited,
  // the next kernels are shortened by the time that the thread was late for it.
  void PassedIn(bool waited);
  // Says at which point of the flow `record` is reached.
  void Anchor(const RecordPtr& record);
  // Says that the stream waits at a word, or, with kNone, that it goes on. A wait may slow its neighbours.
  void SetBlocked(WordPlace at);
  // Returns what the next piece of work waits for, if it is queued and begins with a wait for a word.
  std::optional<WordCondition> NextWait();
  // PassEarly() says that the next wait for a word has read the word already and passes. TakeEarlyPass()
  // returns whether PassEarly() was called since the last TakeEarlyPass().
  void PassEarly() { passes_early_ = true; }
  bool TakeEarlyPass() { return std::exchange(passes_early_, false); }
  // Blocks until `record` is reached, unless it comes before the present point of this lane's own flow.
  void WaitFor(const RecordPtr& record);

 private:
  explicit Lane(int gpu) : gpu_(gpu) {}
  void Loop();
  // Sleeps until there is work. While the GPU is busy, it sleeps without being woken for new work. Returns
  // false if stopped.
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
  std::deque<Mark> begun_at_;  // beginnings of the launches handed to the flow, until they are reached
  RecordPtr tail_;             // record behind all work enqueued; null if there is none
  bool used_ = false;          // true once anything was enqueued
  bool stopping_ = false;
  bool dozing_ = false;  // true while the thread will look at the queue in time without being woken

  std::shared_ptr<Flow> flow_;  // the lane's thread only; set once
  Mark mark_ = 0;               // end of the last kernel given to the flow
  Payback payback_;
  Nanos filled_at_ = 0;        // when the queue was last filled after it was empty
  double spare_at_fill_ = 0;   // value of Flow::Spare() at that time
  std::size_t kernels_ = 0;    // number of kernels that ran
  bool passes_early_ = false;  // the lane's thread only
  std::deque<std::pair<Mark, std::weak_ptr<Record>>> unresolved_;
};

}  // namespace simgpu
