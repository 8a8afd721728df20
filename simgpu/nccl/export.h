// Exports functions as NCCL does: pncclX is the function, and ncclX is a weak name for it that a tool may
// replace. The static library exports nothing: the calls stay inside the program that links it.
#pragma once

#include "simgpu/nccl/nccl.h"

#ifdef SIMGPU_NCCL_STATIC
#define SIMGPU_NCCL_VISIBILITY visibility("hidden")
#else
#define SIMGPU_NCCL_VISIBILITY visibility("default")
#endif

#define SIMGPU_NCCL_EXPORT(result, name, ...)                                         \
  extern "C" __attribute__((SIMGPU_NCCL_VISIBILITY)) result pnccl##name(__VA_ARGS__); \
  extern "C" __attribute__((SIMGPU_NCCL_VISIBILITY, weak, alias("pnccl" #name)))      \
  result nccl##name(__VA_ARGS__);                                                     \
  extern "C" result pnccl##name(__VA_ARGS__)
