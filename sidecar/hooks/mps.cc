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
  // If this process has no descriptors left now, the socket has to do: the driver may have connected when it
  // had some.
  return error == 0 || (base::IsOwnLack(error) && base::HasMpsSocket(directory));
}

}  // namespace crossover::hooks
