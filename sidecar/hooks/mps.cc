#include "sidecar/hooks/mps.h"

#include <stdlib.h>

#include "common/base/mps_pipe.h"

namespace crossover::hooks {

bool RunsProcessesTogether(const gates::Driver& driver, CUdevice gpu) {
  int enabled = 0;
  if (driver.DeviceGetAttribute != nullptr &&
      driver.DeviceGetAttribute(&enabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, gpu) == CUDA_SUCCESS)
    return enabled != 0;
  const char* named = ::getenv(base::kMpsPipeVariable);
  const char* directory = named != nullptr ? named : base::kDefaultMpsPipe;
  const int error = base::TryMpsPipe(directory);
  // The driver connected earlier, when there may have been descriptors left.
  return error == 0 || (base::IsOwnLack(error) && base::HasMpsSocket(directory));
}

}  // namespace crossover::hooks
