// Launches the kernels that all programs here use. They exist as a fatbin (where the build had nvcc) and as
// PTX for a real GPU, and as a text image for the software GPU.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "benchmarks/driver/driver.h"

namespace crossover::bench {

// Holds one context, one stream, and the kernels. Every failure ends the program and names itself. A driver
// that loads no kernels is a failure of the first launch, so that questions without a kernel get answers.
// The stream is a non-blocking one; with GPU_STREAM=legacy in the environment it is the legacy stream, on
// which PyTorch computes. Not thread-safe.
class RealGpu {
 public:
  RealGpu();

  CUdevice device() const { return device_; }
  CUstream stream() const { return stream_; }
  CUstream NewStream() const;
  // Returns false on the software GPU, where kernels last as long as they are told to.
  bool computes() const { return image_ != Image::kText; }
  bool has_kernels() const { return image_ != Image::kNone; }
  // Returns which image of the kernels the driver has loaded: "text", "fatbin", "ptx", or "none" and why.
  std::string Kernels() const;

  // Returns that image, for another load of it. REQUIRES: has_kernels().
  const void* LoadedImage() const;

  // Keeps the whole GPU busy for about `ns` if it has the GPU for itself. The amount of work is fixed, so
  // it takes longer where others compute too. REQUIRES on a real GPU: GPU_LOOPS_PER_US is set to what
  // `gpu_probe info` prints.
  void Work(CUstream stream, std::uint64_t ns) const;
  // Does the same for a number of loops. Calibration uses it.
  void Loops(CUstream stream, std::uint32_t loops) const;
  // Writes the GPU's own clock, in ns, to the device address `where`. All processes on one GPU see the same
  // clock. On the software GPU it writes CLOCK_MONOTONIC.
  void Stamp(CUstream stream, CUdeviceptr where) const;
  // Launches one block that reads the word until it is at or past `value`: a stream's wait must not behave
  // like this.
  void Spin(CUstream stream, CUdeviceptr word, std::uint32_t value) const;
  // Launches one thread that does nothing.
  void Null(CUstream stream) const;
  // Blocks until all work of the stream is done.
  void Synchronize(CUstream stream) const;

 private:
  enum class Image { kNone, kText, kFatbin, kPtx };

  CUstream ChosenStream() const;
  void LoadKernels();
  CUfunction Kernel(const char* name) const;

  CUdevice device_ = 0;
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  Image image_ = Image::kNone;
  std::string refused_;  // what the driver said of each image that it was given
  mutable std::map<std::string, CUfunction> functions_;
  unsigned blocks_ = 1;
  double loops_per_ns_ = 0;
};

// Forks a child that ends with its parent: a child that waits for a GPU would otherwise wait for ever.
pid_t ForkTied();

void SleepNs(std::int64_t ns);

// Returns memory that this process and its children share and that streams may use. It is never unmapped.
void* SharedMemory(std::size_t bytes);
// Registers host memory with the driver and returns its device address.
CUdeviceptr Register(void* memory, std::size_t bytes);

// Queues `count` operations as one batch (sidecar/gates/memory_operations.h).
void Enqueue(CUstream stream, CUstreamBatchMemOpParams* ops, unsigned count);

}  // namespace crossover::bench
