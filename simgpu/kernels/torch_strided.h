// Reads the parameters of PyTorch's elementwise loops over strided tensors (elementwise_kernel of
// CUDALoops.cuh): one structure with the sizes, the strides in bytes, the pointers and the function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "simgpu/kernels/effect.h"
#include "simgpu/kernels/scalar.h"

namespace simgpu::torch {

// A Strided refers to the structure of one launch, of a loop over `tensors` tensors; the result is tensor 0.
class Strided {
 public:
  // Returns whether the kernel is such a loop, by its name and the sizes of its parameters.
  static bool IsLoop(std::string_view name, const std::vector<std::size_t>& parameter_bytes,
                     std::size_t tensors);
  // Returns whether it loads and stores with casts. Only then Type() says something.
  static bool HasCasts(std::string_view name);

  Strided(const void* structure, std::size_t tensors);

  // Returns where element number `index` of a tensor lies.
  unsigned char* At(std::size_t tensor, std::uint64_t index) const;
  // Returns whether all elements of a tensor, of so many bytes each, lie in known memory.
  bool AreKnown(std::size_t tensor, std::size_t element_bytes, const EffectMemory& memory) const;
  // Returns the function of the loop, which follows the pointers.
  const unsigned char* Function() const { return structure_ + PointersAt() + tensors_ * sizeof(void*); }
  Scalar Type(std::size_t tensor) const { return static_cast<Scalar>(Function()[1 + tensor]); }

 private:
  std::uint32_t Word(std::size_t at) const;
  std::uint32_t Size(std::size_t dimension) const;
  std::uint32_t Stride(std::size_t dimension, std::size_t tensor) const;
  std::size_t PointersAt() const;
  unsigned char* Pointer(std::size_t tensor) const;

  const unsigned char* structure_;
  std::size_t tensors_;
  std::size_t dims_;
};

}  // namespace simgpu::torch
