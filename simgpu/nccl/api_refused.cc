// Exports the calls that programs link but this library does not implement. Frameworks bind all symbols at
// load, so a missing symbol would keep them from loading.
#include "simgpu/nccl/export.h"
#include "simgpu/nccl/log.h"

namespace {

ncclResult_t NotThere(const char* function) {
  return simgpu::nccl::Refuse(ncclInvalidUsage, std::string(function) + ": this library does not have it");
}

}  // namespace

// The parameters are left out, because they are never read.
#define SIMGPU_NCCL_REFUSED(name) \
  SIMGPU_NCCL_EXPORT(ncclResult_t, name, void) { return NotThere(#name); }

SIMGPU_NCCL_REFUSED(CommResume)
SIMGPU_NCCL_REFUSED(CommShrink)
SIMGPU_NCCL_REFUSED(CommSuspend)
SIMGPU_NCCL_REFUSED(CommWindowRegister)
SIMGPU_NCCL_REFUSED(CommWindowDeregister)
SIMGPU_NCCL_REFUSED(DevCommCreate)
SIMGPU_NCCL_REFUSED(GetLsaMultimemDevicePointer)
SIMGPU_NCCL_REFUSED(GetPeerDevicePointer)
SIMGPU_NCCL_REFUSED(GroupSimulateEnd)
SIMGPU_NCCL_REFUSED(PutSignal)
SIMGPU_NCCL_REFUSED(RedOpCreatePreMulSum)
SIMGPU_NCCL_REFUSED(RedOpDestroy)
SIMGPU_NCCL_REFUSED(Signal)
SIMGPU_NCCL_REFUSED(WaitSignal)
SIMGPU_NCCL_REFUSED(WinGetUserPtr)

// Frees nothing: DevCommCreate is refused, so no device communicator exists. A framework calls it as it ends,
// whether or not it has made one.
SIMGPU_NCCL_EXPORT(ncclResult_t, DevCommDestroy, void) { return ncclSuccess; }
