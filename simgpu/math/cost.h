// Computes what the kernels of the stand-in libraries cost, from the shapes of their operands. Pure.
//
// A kernel takes a fixed time to begin, and then its arithmetic at the rate of the SMs that its tiles fill.
// The rates are about what NVIDIA's libraries reach on an H100.
#pragma once

#include <cstdint>

namespace simgpu::math {

enum class Precision { kDouble, kSingle, kTensorFloat, kHalf, kByte };

// A MatrixShape names the sizes of a batch of matrix products: m x k by k x n.
struct MatrixShape {
  std::uint64_t m = 0;
  std::uint64_t n = 0;
  std::uint64_t k = 0;
  std::uint64_t batch = 1;
};

// A Cost is the duration of a kernel on the SMs that it fills.
struct Cost {
  std::uint64_t ns = 0;
  int sms = 1;
};

// Returns the cost of a product on a GPU of `sms` SMs (1 or more). An empty product costs the start alone.
Cost CostOfProduct(const MatrixShape& shape, Precision precision, int sms);

// Returns the cost of work that reads and writes `bytes` bytes of memory once each.
Cost CostOfTraffic(std::uint64_t bytes, int sms);

}  // namespace simgpu::math
