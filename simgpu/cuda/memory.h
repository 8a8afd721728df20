// Keeps the memory that the application allocated or registered here. Device memory is host memory: one
// address serves host and device. Thread-safe.
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
  std::size_t bytes = 0;         // as the caller asked
  std::size_t mapped_bytes = 0;  // size of this library's mapping; 0 if the mapping is not its own
  std::size_t charged = 0;       // bytes charged to the GPU's memory
  MemoryKind kind = MemoryKind::kDevice;
  Device* device = nullptr;  // null for host memory
  unsigned flags = 0;
  std::uint64_t id = 0;
};

// Allocates memory and charges `device` for it, unless it is kHost. Returns CUDA_ERROR_OUT_OF_MEMORY if it
// does not fit.
CUresult Allocate(Device* device, std::size_t bytes, MemoryKind kind, unsigned flags, CUdeviceptr* address);
// Frees memory of Allocate(). Returns an error if no such memory begins at `address`. `host` is true for the
// calls that free host memory.
CUresult Free(CUdeviceptr address, bool host);

// RegisterHost() registers a range of host memory of the application. It returns an error if the range
// overlaps another known one. UnregisterHost() removes the range that begins at `address`, and returns an
// error if there is none.
CUresult RegisterHost(void* address, std::size_t bytes, unsigned flags);
CUresult UnregisterHost(void* address);

// Enter() adds a range whose mapping other code owns. Withdraw() removes a range of this kind and returns
// it, or no value if there is none.
void Enter(const Allocation& allocation);
std::optional<Allocation> Withdraw(std::uintptr_t base, MemoryKind kind);

// Returns the allocation that holds `address`, or no value if CUDA does not know that memory.
std::optional<Allocation> FindAllocation(std::uintptr_t address);

}  // namespace simgpu
