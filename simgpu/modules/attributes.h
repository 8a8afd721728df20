// Says what the image of a kernel, and the program, make known about it: its attributes
// (CU_FUNC_ATTRIBUTE_*).
#pragma once

#include <atomic>

#include "simgpu/cuda/api.h"
#include "simgpu/image/image.h"

namespace simgpu {

// This is the compute capability of every device: 90 for 9.0.
constexpr int kArchitecture = 90;

// A KernelAttributes holds those of one kernel. It is thread-safe: what the program sets is atomic.
class KernelAttributes {
 public:
  // Takes what the image says. REQUIRES: no other thread has the object yet.
  void Take(const image::KernelImage& kernel);

  // Reads or sets an attribute, as cuFuncGetAttribute() and cuFuncSetAttribute() do. Set() returns
  // CUDA_ERROR_INVALID_VALUE for an attribute that cannot be set, and for a value that is out of bounds.
  CUresult Get(CUfunction_attribute attribute, int* value) const;
  CUresult Set(CUfunction_attribute attribute, int value);

  // Checks a launch with blocks of `threads` threads and `shared` bytes of dynamic shared memory.
  CUresult CheckLaunch(unsigned threads, unsigned shared) const;

 private:
  int most_threads_ = 1024;
  int static_shared_ = 0;
  int registers_ = 32;
  std::atomic<int> most_dynamic_shared_ = 48 << 10;  // bytes
  std::atomic<int> carveout_ = -1;
  std::atomic<int> cluster_[3] = {0, 0, 0};  // REQUIRED_CLUSTER_WIDTH, HEIGHT, DEPTH
  std::atomic<int> large_cluster_ = 0;
  std::atomic<int> cluster_policy_ = 0;
};

}  // namespace simgpu
