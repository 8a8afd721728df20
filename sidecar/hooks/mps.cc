#include "sidecar/hooks/mps.h"

#include <stdlib.h>

#include "common/base/mps_pipe.h"

namespace crossover::hooks {

bool RunsProcessesTogether(const gates::Driver& driver, CUdevice gpu) {
  int enabled = 0;
  if (driver.DeviceGetAttribute != nullptr &&
      driver.DeviceGetAttribute(&enabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, gpu) == CUDA_SUCCESS)
    return enabled != 0;
  const char* directory = ::getenv(base::kMpsPipeVariable);
  return base::TryMpsPipe(directory != nullptr ? directory : base::kDefaultMpsPipe) == 0;
}

}  // namespace crossover::hooks
