// Implements ncclCommMemStats. This library takes no memory of the GPU: its buffers are pinned memory of the
// host.
#include "simgpu/nccl/comm.h"
#include "simgpu/nccl/export.h"
#include "simgpu/nccl/log.h"

using simgpu::nccl::Refuse;

SIMGPU_NCCL_EXPORT(ncclResult_t, CommMemStats, ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value) {
  if (const ncclResult_t result = simgpu::nccl::CheckComm("CommMemStats", comm); result != ncclSuccess)
    return result;
  if (value == nullptr) return Refuse(ncclInvalidArgument, "CommMemStats: value is null");
  const auto number = static_cast<unsigned>(stat);
  if (number > ncclStatGpuMemTotal) {
    return Refuse(ncclInvalidArgument,
                  "CommMemStats: stat: expected a value from 0 to 3, got " + std::to_string(number));
  }
  *value = 0;
  return ncclSuccess;
}
