// Implements cuGetProcAddress(): finds functions by name, version and kind of default stream.
#include <cstring>
#include <type_traits>

#include "simgpu/cuda/api.h"
#include "simgpu/model/constants.h"

namespace {

struct Function {
  const char* name;
  int version;
  bool per_thread;
  void* address;
};

constexpr bool IsPerThread(const char* flavour) { return flavour[0] != '\0'; }

#define FUNCTION(name, version, flavour, symbol) \
  static_assert(std::is_same_v<decltype(&symbol), PFN_##name##_v##version##flavour>, #symbol);
#include "simgpu/cuda/functions.def"
#undef FUNCTION

const Function kFunctions[] = {
#define FUNCTION(name, version, flavour, symbol) \
  {#name, version, IsPerThread(#flavour), reinterpret_cast<void*>(&symbol)},
#include "simgpu/cuda/functions.def"
#undef FUNCTION
};

constexpr int kDriverVersion = simgpu::constants::kDriverVersion;

}  // namespace

extern "C" {

CUresult cuGetProcAddress_v2(const char* symbol, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || address == nullptr || version > kDriverVersion ||
      flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  const Function* best = nullptr;
  bool known = false;
  for (const Function& function : kFunctions) {
    if (std::strcmp(function.name, symbol) != 0) continue;
    known = true;
    if (function.version > version || (function.per_thread && !per_thread)) continue;
    // Prefer the newest ABI that the caller knows, and the per-thread flavour to the plain one.
    const bool better = best == nullptr || function.per_thread > best->per_thread ||
                        (function.per_thread == best->per_thread && function.version > best->version);
    if (better) best = &function;
  }
  *address = best != nullptr ? best->address : nullptr;
  if (status != nullptr) {
    *status = best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                              : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return best != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char* symbol, void** address, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, address, version, flags, nullptr);
}

}  // extern "C"
