// Defines a GPU that multiplies matrices. One thread uses it. Calls throw trainer::Failure with the name of
// the CUDA error.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace crossover::grid {

// A View is a matrix in device memory: element (i, j) is at data[i * row_step + j * column_step]. A
// transposed view of a matrix has its steps exchanged.
struct View {
  CUdeviceptr data = 0;
  std::uint32_t row_step = 0, column_step = 0;
};

class Multiplier {
 public:
  // Opens the `device`-th GPU of this node.
  explicit Multiplier(std::uint32_t device);
  ~Multiplier();
  Multiplier(const Multiplier&) = delete;
  Multiplier& operator=(const Multiplier&) = delete;

  // Returns "PTX", or "the text image" on the software GPU.
  const std::string& kernel() const { return kernel_; }
  CUstream stream() const { return stream_; }

  // Allocates device memory for so many floats. This object owns it.
  CUdeviceptr Allocate(std::size_t floats);
  // Copies in the order of the stream, and waits for the copy. So does Download().
  void Upload(CUdeviceptr to, const std::vector<float>& from);
  std::vector<float> Download(CUdeviceptr from, std::size_t floats);

  // A Size is that of one product: `to` has rows x columns elements, and the sums have `inner` terms.
  struct Size {
    std::uint32_t rows = 0, columns = 0, inner = 0;
  };
  // Queues to = a b, or to += a b with `add`, on the stream. `to` is stored row by row. On the software GPU
  // this takes `ns`.
  void Multiply(const View& a, const View& b, CUdeviceptr to, const Size& size, bool add, std::uint64_t ns);
  // Waits for all that was queued.
  void Synchronize();

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  CUstream stream_ = nullptr;
  std::string kernel_;
  std::vector<CUdeviceptr> allocations_;
};

}  // namespace crossover::grid
