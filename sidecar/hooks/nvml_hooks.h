// Defines the wrappers of the NVML table, which show the process's memory limit as the size of the GPU's
// memory.
//
// They show as used what this process has on all its GPUs: NVML knows a GPU by another handle than CUDA does,
// and a rank has one GPU. A process without CUDA (nvidia-smi) sees what all processes use on the GPU, up to
// the limit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sidecar/hooks/library.h"

namespace crossover::hooks {

using NvmlResult = int;
using NvmlDevice = struct NvmlDeviceOpaque*;
inline constexpr NvmlResult kNvmlSuccess = 0;
inline constexpr NvmlResult kNvmlFunctionNotFound = 13;

// These are nvmlMemory_t and nvmlMemory_v2_t, in bytes.
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlMemory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

template <typename Memory>
using NvmlFunction = NvmlResult (*)(NvmlDevice, Memory*);

enum class NvmlHook : std::size_t {
#define NVML_HOOK(symbol, memory) k_##symbol,
#include "sidecar/hooks/nvml_hooks.def"
#undef NVML_HOOK
  kCount
};

// Returns this process's memory limit on each GPU, in bytes; 0 if there is none.
std::uint64_t MemoryBudget();
// Changes figures of the whole GPU, in bytes, to those of a GPU with `budget` bytes of memory.
void ShowBudget(std::uint64_t budget, unsigned long long* total, unsigned long long* free_bytes,
                unsigned long long* used);

template <typename Memory>
NvmlResult AskForMemory(NvmlFunction<Memory> real, NvmlDevice device, Memory* shown) {
  if (real == nullptr) return kNvmlFunctionNotFound;
  const NvmlResult result = real(device, shown);
  const std::uint64_t budget = MemoryBudget();
  if (result == kNvmlSuccess && budget != 0) ShowBudget(budget, &shown->total, &shown->free, &shown->used);
  return result;
}

template <NvmlHook kHook>
struct NvmlWrapper;

#define NVML_HOOK(symbol, memory)                                                                          \
  template <>                                                                                              \
  struct NvmlWrapper<NvmlHook::k_##symbol> {                                                               \
    using Function = NvmlFunction<memory>;                                                                 \
    static NvmlResult Call(NvmlDevice device, memory* shown) {                                             \
      return AskForMemory(reinterpret_cast<Function>(FindSymbol(Library::kNvml, #symbol)), device, shown); \
    }                                                                                                      \
  };
#include "sidecar/hooks/nvml_hooks.def"
#undef NVML_HOOK

}  // namespace crossover::hooks
