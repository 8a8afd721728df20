// Memory that the application got from us or registered with us. Device memory is host memory: one address
// serves host and device. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "simgpu/cuda/api.h"

namespace simgpu {

struct Device;

enum class MemoryKind { kDevice, kManaged, kHost, kRegistered, kMapped };

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;         // as asked for
  std::size_t mapped_bytes = 0;  // of our mapping; 0 when it is not ours
  std::size_t charged = 0;       // against the GPU's memory
  MemoryKind kind = MemoryKind::kDevice;
  Device* device = nullptr;  // null for memory of the host
  unsigned flags = 0;
  std::uint64_t id = 0;
};

// Allocates and charges `device` (not for kHost). CUDA_ERROR_OUT_OF_MEMORY when it does not fit.
CUresult Allocate(Device* device, std::size_t bytes, MemoryKind kind, unsigned flags, CUdeviceptr* address);
// Frees what Allocate() gave; `host` says which of the two families of calls asks.
CUresult Free(CUdeviceptr address, bool host);

CUresult RegisterHost(void* address, std::size_t bytes, unsigned flags);
CUresult UnregisterHost(void* address);

// Enters or removes a range whose mapping somebody else keeps.
void Enter(const Allocation& allocation);
std::optional<Allocation> Withdraw(std::uintptr_t base, MemoryKind kind);

// What holds `address`; nothing for memory that CUDA does not know.
std::optional<Allocation> FindAllocation(std::uintptr_t address);

}  // namespace simgpu
