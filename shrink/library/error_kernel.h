// Measures the error of the codecs on the GPU, for the dry run. The kernel only reads the buffer of a call,
// and writes its sums into memory of the host, which is not counted against the job's GPU memory.
//
// Its launches go past libcrossover.so, as all of this library's do: a launch that counts as the program's
// would make the stream of the collectives one that computes, and no turns would be found (record 0075).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "shrink/library/driver.h"
#include "shrink/library/error_account.h"
#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

// A Sample is one launch. Its account is this sample's until it is measured (ErrorAccount).
struct Sample {
  ErrorAccount* account = nullptr;
  std::uint64_t mark = 0;
  CUdeviceptr values = 0;
  std::uint64_t count = 0;
  CUstream stream = nullptr;
};

// There is one for a process, for the GPU that was current when it was made. Thread-safe.
class ErrorKernel {
 public:
  constexpr ErrorKernel() = default;

  // Loads the kernel of `image` (null: there is none, because of `reason`) into the current context, and
  // takes the memory. Does so once: a second call changes nothing, also where the first was refused.
  void Make(const Driver* driver, const void* image, const vote::Reason& reason);

  // Returns whether samples can be taken, as far as is known.
  bool is_ready() const { return state_.load(std::memory_order_acquire) == State::kReady; }
  // Returns why none can be taken; empty if that is not known.
  vote::Reason why_not() const;

  // Returns memory for the samples of one more kind of calls, or null if kMostMeasured have some.
  ErrorParts* TakeParts();

  // Queues the kernel on the stream of a call, and ends the sample. Where the driver refuses that, no further
  // sample is taken, and why_not() says why. Returns whether the kernel is on its stream. A call on another
  // GPU is no sample.
  bool Measure(const Sample& sample);

 private:
  enum class State : std::uint8_t { kUnmade, kReady, kRefusing, kRefused };
  vote::Reason Load(const void* image);
  vote::Reason ShareMemory();
  void Refuse(const vote::Reason& reason);

  base::Mutex making_;
  std::atomic<State> state_{State::kUnmade};
  vote::Reason reason_;  // once the state is kRefused
  const Driver* driver_ = nullptr;
  CUdevice device_ = -1;
  CUfunction function_ = nullptr;
  ErrorParts* parts_ = nullptr;      // kMostMeasured, in memory of the host
  CUdeviceptr parts_on_device_ = 0;  // the same, as the GPU has it
  std::atomic<std::size_t> taken_{0};
};

}  // namespace crossover::shrink::library
