// Declares what a kernel of this library tells when it begins.
#pragma once

#include <cstdint>

namespace simgpu::nccl {

// A KernelOwner owns the work behind a kernel. Its address is a parameter of the kernel.
class KernelOwner {
 public:
  // Says that the kernel with this number has begun. Any thread; must not block.
  virtual void Begin(std::uint32_t number) = 0;

 protected:
  ~KernelOwner() = default;
};

}  // namespace simgpu::nccl
