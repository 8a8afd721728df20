// What a communicator was asked to be: ncclConfig_t as far as it means something here, and the environment.
#pragma once

#include <string>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

struct Config {
  bool blocking = true;
  int least_ctas = 0;  // 0: not said
  int most_ctas = 0;
};

// `given` may be null, and may come from a program compiled against an older or newer NCCL: only `size` bytes
// of it exist. False, with one line in *error, where it was not initialised or holds what makes no sense.
bool ReadConfig(const ncclConfig_t* given, Config* config, std::string* error);

// SMs a collective holds, of `machine_ctas` by default: within the limits of the communicator and of
// NCCL_MIN_CTAS and NCCL_MAX_CTAS.
int ChooseCtas(const Config& config, int machine_ctas);

// SIMGPU_NCCL_VERSION, else the version of our header. 0, with *error, where it is not a version.
int LibraryVersion(std::string* error);

}  // namespace simgpu::nccl
