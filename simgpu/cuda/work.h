// What can be queued on a stream. A piece of work is immutable once made, so that a graph can run it many
// times.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simgpu/cuda/api.h"
#include "simgpu/cuda/module_image.h"

namespace simgpu {

class Lane;

class Work {
 public:
  virtual ~Work() = default;
  // Called by the lane's thread, in stream order.
  virtual void Run(Lane& lane) const = 0;
  // True when others wait for it: it is done even where the context is lost.
  virtual bool IsRecord() const { return false; }
};

using WorkPtr = std::shared_ptr<const Work>;

// A kernel with its parameters, copied at launch.
WorkPtr MakeKernel(const KernelSpec* spec, void (*function)(void* const*), void* const* parameters);

// Runs `function` once all earlier work of the stream is done; it starts at real time.
WorkPtr MakeHostWork(std::function<void()> function);

// The same for work whose effect nobody may look at before the stream is synchronised (a large copy): it runs
// in stream order but need not wait for the time at which the GPU gets there.
WorkPtr MakeQuietWork(std::function<void()> function);

// Loses the process's contexts, once all earlier work is done.
WorkPtr MakeBreak();

// Wait for, or write, words of memory, in order; all earlier work is done first.
WorkPtr MakeMemoryOperations(std::vector<CUstreamBatchMemOpParams> operations);

// Work on memory that must wake whoever sleeps on a word of it.
void WakeWord(const void* address);

}  // namespace simgpu
