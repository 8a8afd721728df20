// Exports the calls that programs bind but this library does not implement.
#include "simgpu/runtime/last_error.h"
#include "simgpu/runtime/refuse.h"

namespace {

cudaError_t NotThere(const char* name) {
  simgpu::runtime::Refuse(name, "this library does not have it");
  return simgpu::runtime::Keep(cudaErrorNotSupported);
}

}  // namespace

// The parameters are left out, because they are never read. The symbols are set by name, because the headers
// declare the calls with their parameters.
#define REFUSED(name)                                                                            \
  extern "C" __attribute__((visibility("default"))) cudaError_t refused_##name() __asm__(#name); \
  cudaError_t refused_##name() { return NotThere(#name); }
#include "simgpu/runtime/refused.def"
#undef REFUSED
