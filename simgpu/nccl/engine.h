// The thread of a communicator that moves its data: the software's counterpart of NCCL's kernels and proxy.
//
// Tasks run one after the other, in the order of Submit(), each from the moment its kernel has begun. When a
// task is over the *done word* reaches its number, which lets the kernel end. A failure is final: the done
// word reaches every task ever submitted, later ones are refused, and all ranks that can still be reached are
// told.
//
// Failures travel both ways round the ring: along with the data, and on the otherwise unused direction of the
// data connections, which is the way to ranks that are idle.
#pragma once

#include <poll.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "simgpu/nccl/run.h"
#include "simgpu/nccl/times.h"

namespace simgpu::nccl {

// Every public function may be called from any thread.
class Engine {
 public:
  // `done` is a word that kernels see; it must be 0 and outlive the engine. `times` may be null.
  Engine(std::unique_ptr<Network> network, std::uint32_t* done, std::unique_ptr<Times> times = nullptr);
  // Ends the thread, whatever it does.
  ~Engine();

  // Queues a task and gives it its number; 0 after a failure. Kernels of one communicator begin in this
  // order.
  std::uint32_t Submit(std::unique_ptr<Task> task);
  // The kernel of the task with this number runs.
  void Begin(std::uint32_t number);

  // Ends everything with this failure, if there was none before.
  void Abort(ncclResult_t result, const std::string& text);
  // Waits until every task is over, then takes leave of the predecessor and ends the thread.
  void Finish();

  // ncclSuccess while all is well.
  Failure failure() const;

 private:
  // What is known of the successor.
  enum class Next { kThere, kLeft, kLost };

  void Loop();
  // One pass of the loop. False when the thread is to end.
  bool Advance();
  void RunTasks();
  bool StartNext();
  void Complete();
  void HearFromNext();
  void JudgeNext();
  void Spread();
  void Fail(const Failure& failure);
  bool TakeLeave();
  void Wait();
  Nanos WakeAt();
  void LetKernelsEnd(std::uint32_t number);

  const std::unique_ptr<Network> network_;
  std::uint32_t* const done_;
  const std::unique_ptr<Times> times_;
  const Cancel wake_;
  std::atomic<std::uint32_t> begun_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> stop_{false};

  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Task>> tasks_;  // front: the one that runs, or runs next
  std::uint32_t submitted_ = 0;
  std::uint32_t rings_ = 0;
  Failure failure_;

  // Of the engine's thread alone.
  std::unique_ptr<Run> run_;
  Next next_ = Next::kThere;
  Nanos next_lost_at_ = 0;
  bool spread_ = false;  // the failure was passed on
  bool said_bye_ = false;
  std::vector<pollfd> fds_;
  bool visitor_ = true;  // the listener is readable
  bool next_speaks_ = true;

  std::thread thread_;  // last: it uses everything above
};

}  // namespace simgpu::nccl
