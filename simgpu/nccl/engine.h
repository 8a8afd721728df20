// Runs the thread of a communicator that moves its data. It takes the place of NCCL's kernels and proxy.
//
// Tasks run one after the other, in the order in which their kernels begin. For submitted tasks that is the
// order of Submit(). When a task is over, the *done word* reaches its number, and its kernel ends. A failure
// is final: the done word reaches every task ever submitted, later tasks are refused, and all ranks that can
// still be reached are told.
//
// A task of a graph is replayed instead: it comes each time its kernel begins, and has a word of its own.
//
// Failures travel both ways round the ring: with the data, and in the other direction of the data
// connections, which is otherwise unused. That second way reaches ranks that are idle.
#pragma once

#include <poll.h>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "simgpu/nccl/kernel_owner.h"
#include "simgpu/nccl/run.h"
#include "simgpu/nccl/times.h"

namespace simgpu::nccl {

// Stores 1 to the done word of a replayed task, so that its kernel ends.
void LetKernelEnd(std::uint32_t* done);

// An Engine is the thread of one communicator, and the tasks of this thread. Any thread may call its public
// functions.
class Engine final : public KernelOwner {
 public:
  // `done` is a word that kernels can read. It must be 0 and outlive the engine. `times` may be null.
  Engine(std::unique_ptr<Network> network, std::uint32_t* done, std::unique_ptr<Times> times = nullptr);
  // Ends the thread, whatever it does at the moment.
  ~Engine();

  // Queues a task and returns its number, or 0 after a failure. The kernels of one communicator begin in
  // this order.
  std::uint32_t Submit(std::unique_ptr<Task> task);
  // Says that the kernel of the task with this number has begun.
  void Begin(std::uint32_t number) override;
  // Runs a task of a graph whose kernel has begun, and stores 1 to `done` when it is over, or at once after a
  // failure or Finish(). The task and the word must stay until then.
  void Replay(Task* task, std::uint32_t* done);

  // Ends all work with this failure, unless there was a failure before.
  void Abort(ncclResult_t result, const std::string& text);
  // Waits until every task is over, sends kBye to the predecessor and ends the thread.
  void Finish();

  // Returns the failure; its result is ncclSuccess if there is none.
  Failure failure() const;

 private:
  // Next says what is known of the successor.
  enum class Next { kThere, kLeft, kLost };

  void Loop();
  // Makes one pass of the loop. Returns false if the thread must end.
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
  void EndReplays();

  const std::unique_ptr<Network> network_;
  std::uint32_t* const done_;
  const std::unique_ptr<Times> times_;
  const Cancel wake_;
  std::atomic<std::uint32_t> begun_{0};
  std::atomic<bool> failed_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> stop_{false};

  mutable std::mutex mutex_;
  std::deque<std::unique_ptr<Task>> tasks_;  // the front task runs, or runs next
  std::uint32_t submitted_ = 0;
  struct Replayed {
    Task* task;
    std::uint32_t* done;
  };
  std::deque<Replayed> replays_;  // whose kernels have begun
  bool finished_ = false;
  Failure failure_;

  // Only the engine's thread uses the fields below.
  std::unique_ptr<Run> run_;
  bool replays_first_ = false;  // run_ runs the first of replays_, and not the first of tasks_
  std::uint32_t rings_ = 0;     // ring collectives that have started
  Next next_ = Next::kThere;
  Nanos next_lost_at_ = 0;
  bool spread_ = false;  // true once the failure was passed on
  bool said_bye_ = false;
  std::vector<pollfd> fds_;
  bool visitor_ = true;  // true if the listener is readable
  bool next_speaks_ = true;

  std::thread thread_;  // must be last: it uses everything above
};

}  // namespace simgpu::nccl
