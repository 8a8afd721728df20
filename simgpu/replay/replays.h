// Keeps the collectives that were captured into CUDA graphs. Each launch of a graph runs them again.
//
// A captured collective has the same nodes as an eager one has work: a copy into a buffer, a kernel, and a
// copy back. It has a buffer and a done word of its own. When its kernel begins, the word becomes 0, and the
// engine gets the task. So every replay runs the ring once, in the order in which the kernels begin.
//
// A program may launch a graph after its communicator has gone. Its collectives then move nothing, and a line
// on stderr says so. For that, what was captured stays until the process ends.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "simgpu/nccl/device.h"

namespace simgpu::nccl {

// A Replay is one captured collective, or one captured group of sends and receives.
class Replay final : public KernelOwner {
 public:
  Replay(std::unique_ptr<Task> task, std::uint32_t* done, Engine* engine)
      : task_(std::move(task)), done_(done), engine_(engine) {}
  void Begin(std::uint32_t number) override;
  // Says that the engine goes away.
  void Retire();

 private:
  const std::unique_ptr<Task> task_;
  std::uint32_t* const done_;
  std::mutex mutex_;
  Engine* engine_;  // null once retired
};

// Replays are those of one communicator. One thread at a time.
class Replays {
 public:
  // Says that captures begin, or end: what is launched in between is captured.
  void SetCapturing(bool capturing) { capturing_ = capturing; }
  bool capturing() const { return capturing_; }

  // Makes the events, once. `before` is the event of the last eager collective, or null: replays come behind
  // it.
  CUresult Prepare(const Driver& driver, CUevent before);
  // Returns the event that the communicator's kernels record and wait for, eager or not; null before
  // Prepare().
  CUevent order() const { return order_; }
  // Returns the event behind the last collective of a capture, and an event for any use within a capture.
  CUevent tail() const { return tail_; }
  CUevent mark() const { return mark_; }
  // Returns whether `capture` has a collective of the communicator already; says that it has one now.
  bool Continues(std::uint64_t capture) const { return capture_ == capture; }
  void Continue(std::uint64_t capture) { capture_ = capture; }

  // Returns a buffer with room for a done word behind `bytes`. Returns nullptr, with the reason in *error, if
  // there is no memory.
  Staging* Keep(Device& device, std::size_t bytes, std::string* error);
  // Adds a task whose buffer is `staging`. Returns how its kernel begins.
  KernelStart Add(std::unique_ptr<Task> task, Staging* staging, Engine* engine);

  // Takes leave of the engine. If anything was captured, keeps it and *device until the process ends.
  void Retire(std::unique_ptr<Device>* device);

 private:
  bool capturing_ = false;
  CUevent order_ = nullptr;
  CUevent tail_ = nullptr;
  CUevent mark_ = nullptr;
  std::uint64_t capture_ = 0;
  std::vector<std::unique_ptr<Replay>> replays_;
};

}  // namespace simgpu::nccl
