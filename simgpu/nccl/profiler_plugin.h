// Declares version 4 of NCCL's profiler interface, as its documentation describes it (plugins/profiler).
// Layouts and values are NCCL's, so any plugin works.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simgpu/nccl/nccl.h"

extern "C" {

// These are the kinds of events: bits of the mask that init() sets.
enum ProfilerEvent { kProfileGroup = 1, kProfileCollective = 2, kProfileTransfer = 4 };

struct ProfilerCollective {
  std::uint64_t number;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};

struct ProfilerTransfer {
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};

struct ProfilerDescription {
  std::uint8_t event;
  void* parent;
  int rank;
  union {
    ProfilerCollective collective;
    ProfilerTransfer transfer;
  };
};

struct ProfilerPlugin {
  const char* name;
  ncclResult_t (*init)(void** context, int* events, const char* comm_name, std::uint64_t comm, int nodes,
                       int ranks, int rank,
                       void (*log)(int level, unsigned long flags, const char* file, int line,
                                   const char* format, ...));
  ncclResult_t (*start)(void* context, void** event, ProfilerDescription* description);
  ncclResult_t (*stop)(void* event);
  ncclResult_t (*record)(void* event, int state, void* arguments);
  ncclResult_t (*finalize)(void* context);
};

}  // extern "C"
