// Declares what can be queued on a stream. A piece of work never changes once it is made, so a graph can
// run it many times.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "simgpu/cuda/api.h"
#include "simgpu/cuda/record.h"
#include "simgpu/cuda/words.h"

namespace simgpu {

class Lane;
struct Kernel;
struct ParameterView;

// A Work is a piece of work that can be queued on a stream.
class Work {
 public:
  virtual ~Work() = default;
  // Runs the work. The lane's thread calls it, in stream order.
  virtual void Run(Lane& lane) const = 0;
  // Returns true if other threads wait for this work. It is then done even if the contexts are lost.
  virtual bool IsRecord() const { return false; }
  // Returns what the work waits for if it begins with a wait for a word.
  virtual std::optional<WordCondition> FirstWait() const { return std::nullopt; }
};

using WorkPtr = std::shared_ptr<const Work>;

// A KernelCost is what one launch of a kernel costs, unless its first parameter says the time.
struct KernelCost {
  double ns = 0;
  int sms = 0;
  double scale = 1;  // of the time
};

// Returns a launch of a kernel. Shares the kernel, and copies the parameters.
WorkPtr MakeKernel(std::shared_ptr<const Kernel> kernel, const KernelCost& cost, const ParameterView& launch);

// Returns work that runs `function` once all earlier work of the stream is done. It starts at real time.
WorkPtr MakeHostWork(std::function<void()> function);

// Returns work that runs `function`, whose effect the program may not read before it synchronises with the
// stream, such as a large copy. The work runs in stream order but need not wait for the time at which the GPU
// gets there.
WorkPtr MakeQuietWork(std::function<void()> function);

// Returns work that loses the process's contexts once all earlier work is done.
WorkPtr MakeBreak();

// Returns work that waits for words of memory or writes them, in order, once all earlier work is done. The
// first write also waits for the records of `channel`.
WorkPtr MakeMemoryOperations(std::vector<CUstreamBatchMemOpParams> operations,
                             std::vector<RecordPtr> channel);

// Wakes the threads that sleep on the word at `address`. Call it after a store to it.
void WakeWord(const void* address);

}  // namespace simgpu
