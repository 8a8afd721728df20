// NCCL's own way to export: pncclX is the function, ncclX a weak name for it that tools may take.
#pragma once

#include "simgpu/nccl/nccl.h"

#define SIMGPU_NCCL_EXPORT(result, name, ...)                                        \
  extern "C" __attribute__((visibility("default"))) result pnccl##name(__VA_ARGS__); \
  extern "C" __attribute__((visibility("default"), weak, alias("pnccl" #name)))      \
  result nccl##name(__VA_ARGS__);                                                    \
  extern "C" result pnccl##name(__VA_ARGS__)
