// The kernels that all programs here use, as PTX for a real GPU and as a text image for the software one.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "benchmarks/driver/driver.h"

namespace crossover::bench {

// One context, one stream, and the kernels. Every failure is fatal and named.
class RealGpu {
 public:
  RealGpu();

  CUdevice device() const { return device_; }
  CUstream stream() const { return stream_; }
  CUstream NewStream() const;
  // False on the software GPU: kernels last as long as they are told to.
  bool computes() const { return computes_; }

  // Keeps the whole GPU busy for about `ns` if it has it for itself: a fixed amount of work, so that it takes
  // longer where others compute too. Needs GPU_LOOPS_PER_US, as Calibrate() found it, on a real GPU.
  void Work(CUstream stream, std::uint64_t ns) const;
  // Work by the number of loops, for calibration.
  void Loops(CUstream stream, std::uint32_t loops) const;
  // Writes the GPU's own clock, in ns, to the device address `where`. Of one GPU it is the same for all
  // processes.
  void Stamp(CUstream stream, CUdeviceptr where) const;
  // One block that looks at the word until it is at or past `value`: what a stream's wait must not be like.
  void Spin(CUstream stream, CUdeviceptr word, std::uint32_t value) const;
  void Synchronize(CUstream stream) const;

 private:
  CUfunction Kernel(const char* name) const;

  CUdevice device_ = 0;
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction work_ = nullptr, stamp_ = nullptr, spin_ = nullptr;
  bool computes_ = false;
  unsigned blocks_ = 1;
  double loops_per_ns_ = 0;
};

// fork() of a child that ends with its parent: one that waits for a GPU would wait for ever.
pid_t ForkTied();

void SleepNs(std::int64_t ns);

// Memory that this process and its children share and streams may use; never unmapped.
void* SharedMemory(std::size_t bytes);
CUdeviceptr Register(void* memory, std::size_t bytes);

// A wait until the word is at or past `value`, or a write.
CUstreamBatchMemOpParams WaitOp(CUdeviceptr word, std::uint32_t value);
CUstreamBatchMemOpParams WriteOp(CUdeviceptr word, std::uint32_t value);
void Enqueue(CUstream stream, CUstreamBatchMemOpParams* ops, unsigned count);

}  // namespace crossover::bench
