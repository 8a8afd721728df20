// What the environment says, read once. Anything malformed is named in one line and makes the library inert.
#pragma once

#include <cstdint>

#include "proto/arbiter_protocol.h"

namespace crossover::session {

struct Config {
  // A gang is named, or the folder of the daemon's socket is where it is in pods; the kill switch is off, and
  // every value is well-formed.
  bool active = false;
  char gang[CROSSOVER_GANG_NAME_MAX] = {};  // may be empty in a pod
  char socket[108] = {};                    // room of sockaddr_un::sun_path
  std::uint32_t gang_size = 0;
  std::uint32_t priority = CROSSOVER_PRIORITY_NORMAL;
  std::uint32_t max_slowdown = 0;                           // thousandths; 0: none
  std::uint64_t gpu_memory = 0;                             // bytes on each GPU; 0: no limit
  std::uint32_t transport = CROSSOVER_TRANSPORT_GPU_GATES;  // to be tried first
  bool launch_blocking = false;  // CUDA_LAUNCH_BLOCKING: every launch waits, so a turn could never be queued
};

// Parses an environment given by `get`, which answers like getenv(); `exists` tells whether there is a file.
Config ParseConfig(const char* (*get)(const char* name), bool (*exists)(const char* path));

// The process's own. Thread-safe.
const Config& GetConfig();

}  // namespace crossover::session
