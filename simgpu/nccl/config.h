// Reads the settings of a communicator: the fields of ncclConfig_t that have a meaning here, and the
// environment.
#pragma once

#include <string>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// A Config keeps the settings of a communicator.
struct Config {
  bool blocking = true;
  int least_ctas = 0;  // 0: not given
  int most_ctas = 0;
};

// Reads an ncclConfig_t. `given` may be null. It may come from a program compiled against an older or newer
// NCCL, so only its first `size` bytes exist. Returns false, with one line in *error, if it was not
// initialised or holds a bad value.
bool ReadConfig(const ncclConfig_t* given, Config* config, std::string* error);

// Reads the settings of a communicator that is made of one with the settings *config: `given` replaces all of
// them, and null keeps them. Fails as ReadConfig().
bool ReadConfigOfChild(const ncclConfig_t* given, Config* config, std::string* error);

// Returns how many SMs a collective holds: `machine_ctas`, within the limits of the communicator and of
// NCCL_MIN_CTAS and NCCL_MAX_CTAS.
int ChooseCtas(const Config& config, int machine_ctas);

// Returns SIMGPU_NCCL_VERSION, or the version of nccl.h if it is not set. Returns 0, with one line in
// *error, if the variable is not a version.
int LibraryVersion(std::string* error);

}  // namespace simgpu::nccl
