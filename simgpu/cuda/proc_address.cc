// Implements cuGetProcAddress(): finds functions by name, version and kind of default stream.
#include <cstring>
#include <type_traits>

#include "simgpu/cuda/api.h"

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

// A Found holds the best function for a question. `known` tells whether there is any of that name.
struct Found {
  const Function* best = nullptr;
  bool known = false;
};

// Returns whether any function of this name has a flavour for the per-thread default stream.
bool HasPerThread(const char* name) {
  for (const Function& function : kFunctions) {
    if (function.per_thread && std::strcmp(function.name, name) == 0) return true;
  }
  return false;
}

// Returns the function with the newest ABI that the caller knows, and whether the name is known. If a name
// has per-thread flavours and the caller asks for them, the plain ones do not count.
Found Find(const char* name, int version, bool per_thread) {
  const bool wanted = per_thread && HasPerThread(name);
  Found found;
  for (const Function& function : kFunctions) {
    if (std::strcmp(function.name, name) != 0) continue;
    found.known = true;
    if (function.version > version || function.per_thread != wanted) continue;
    if (found.best == nullptr || function.version > found.best->version) found.best = &function;
  }
  return found;
}

constexpr cuuint64_t kFlags =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

}  // namespace

extern "C" {

// As in NVIDIA's drivers, no version is too large, and a function that is not found is no error.
CUresult cuGetProcAddress_v2(const char* symbol, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || address == nullptr || (flags & ~kFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
  const Found found = Find(symbol, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
  *address = found.best != nullptr ? found.best->address : nullptr;
  if (status != nullptr) {
    *status = found.best != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : found.known         ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

// The first version returns an error if it finds nothing, and leaves `*address` alone.
CUresult cuGetProcAddress(const char* symbol, void** address, int version, cuuint64_t flags) {
  void* found = nullptr;
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuGetProcAddress_v2(symbol, &found, version, flags, nullptr);
  if (result != CUDA_SUCCESS) return result;
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
  *address = found;
  return CUDA_SUCCESS;
}

}  // extern "C"
