// Narrows and widens on the GPU of a communicator, in a buffer of a fixed size that it has from its creation
// on. So no call allocates, and none fails for lack of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shrink/library/driver.h"
#include "shrink/vote/reason.h"

namespace crossover::shrink::library {

// A Kernel is one of shrink/kernels/kernels.cu.
enum class Kernel : std::uint8_t {
  kNarrow,
  kWiden,
  kEncode,
  kEncodeSum,
  kDecode,
  kEncodePlanned,
  kEncodeSumPlanned,
  kDecodePlanned,
  kStatistics
};
inline constexpr std::size_t kKernels = 9;

// A Step is one narrowed call: `count` floats from `send`, at `offset` bytes of the buffer.
struct Step {
  CUdeviceptr send = 0;
  CUdeviceptr receive = 0;
  std::uint64_t count = 0;
  std::uint64_t offset = 0;
  CUstream stream = nullptr;
  std::uint64_t divisor = 1;  // of the sums; only for an exchange between nodes
};

// A Buffer belongs to one communicator. Its functions run with the communicator's context current. NCCL lets
// one thread at a time use a communicator, and so does this.
class Buffer {
 public:
  constexpr Buffer() = default;

  // Takes the memory and loads the kernels of `image` into the current context. Returns false and sets
  // `reason` if that is refused. The image is PTX that ends with a zero, or another form that the driver
  // takes.
  bool Make(const void* image, std::uint32_t mib, vote::Reason* reason);

  // Gives the memory back, once all work on it is done. If that would take long, because a collective hangs,
  // `may_wait` says whether it waits; else the memory stays until the process ends.
  void Free(bool may_wait);

  // Returns the address in the buffer at `offset` bytes.
  CUdeviceptr At(std::uint64_t offset) const { return memory_ + offset; }

  // Queue a narrowing before the collective of this step, and a widening behind it. Work on another stream
  // than the one before waits for that one, as NCCL's own work for one communicator does. No launch waits for
  // a turn, and none makes its stream one that computes.
  CUresult Narrow(const Step& step);
  CUresult Widen(const Step& step);

  // Queue the work of a step that has more parts than these two: Follow(), any launches, Finish(). `blocks`
  // is 1 or more.
  CUresult Follow(CUstream stream);
  CUresult Launch(Kernel kernel, std::uint64_t blocks, void** parameters, CUstream stream);
  CUresult Finish(CUstream stream);

 private:
  CUresult Convert(Kernel kernel, CUdeviceptr from, CUdeviceptr to, const Step& step);

  const Driver* program_ = nullptr;  // for memory; these two are not null once it is made
  const Driver* past_ = nullptr;
  CUmodule module_ = nullptr;  // of one context
  CUfunction kernels_[kKernels]{};
  CUdeviceptr memory_ = 0;
  CUevent done_ = nullptr;  // recorded behind the last step
  CUstream last_ = nullptr;
  bool used_ = false;
};

}  // namespace crossover::shrink::library
