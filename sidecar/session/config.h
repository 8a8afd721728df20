// Reads the configuration from the environment, once. For a malformed value it writes one line to the log,
// and the library then does nothing in this process.
#pragma once

#include <cstdint>

#include "proto/arbiter_protocol.h"
#include "sidecar/ipc/signals.h"

namespace crossover::session {

// A Config is what the environment says.
struct Config {
  // True if the environment names a gang or the folder of the daemon's socket exists (as in pods), and
  // CROSSOVER_DISABLE is off, and every value is well-formed.
  bool active = false;
  char gang[CROSSOVER_GANG_NAME_MAX] = {};  // may be empty in a pod
  char socket[108] = {};                    // path of the arbiter's socket; as long as sockaddr_un::sun_path
  std::uint32_t gang_size = 0;
  std::uint32_t priority = CROSSOVER_PRIORITY_NORMAL;
  std::uint32_t max_slowdown = 0;                           // thousandths; 0: none
  std::uint64_t gpu_memory = 0;                             // bytes on each GPU; 0: no limit
  std::uint32_t transport = CROSSOVER_TRANSPORT_GPU_GATES;  // the transport to try first
  ipc::Wish signals = ipc::Wish::kAsOffered;                // whether streams wait for signals first
  bool asks_for_limit = false;   // the environment has no memory limit, but a daemon may know one
  bool launch_blocking = false;  // CUDA_LAUNCH_BLOCKING: every launch waits, so a turn could never be queued
  bool turns_at_waits = false;   // turns may end at waits (Session::AllowTurnsAtWaits)
  bool one_connection = false;   // CUDA_DEVICE_MAX_CONNECTIONS is 1: all streams share a channel of the GPU
};

// Returns the configuration. `get` works like getenv(), and `exists` tells whether a path exists. Writes a
// line to the log for a malformed value, and sets the level of the log.
Config ParseConfig(const char* (*get)(const char* name), bool (*exists)(const char* path));

// Returns the rank that the launcher of the job has put into the environment, or 0 if there is none, or if it
// is no rank of a job of `ranks` processes (0: not known). `get` works like getenv().
int LauncherRank(const char* (*get)(const char* name), std::uint32_t ranks);

// Returns the configuration of this process, which the first call reads. Thread-safe.
const Config& GetConfig();

}  // namespace crossover::session
