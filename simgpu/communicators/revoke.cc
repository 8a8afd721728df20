// Implements ncclCommRevoke. It ends the work of a communicator and keeps its hosts connected. Unlike in
// NCCL, the other ranks are told: their work fails with ncclRemoteError, and they revoke as well before they
// split.
#include "simgpu/nccl/export.h"
#include "simgpu/nccl/group.h"
#include "simgpu/nccl/log.h"

using simgpu::nccl::Group;
using simgpu::nccl::Refuse;
using simgpu::nccl::SetUp;

SIMGPU_NCCL_EXPORT(ncclResult_t, CommRevoke, ncclComm_t comm, int revokeFlags) {
  if (const ncclResult_t result = simgpu::nccl::CheckComm("CommRevoke", comm); result != ncclSuccess)
    return result;
  if (revokeFlags != NCCL_REVOKE_DEFAULT) {
    return Refuse(ncclInvalidArgument, "CommRevoke: revokeFlags: expected NCCL_REVOKE_DEFAULT (0), got " +
                                           std::to_string(revokeFlags));
  }
  if (comm->finalized() || comm->revoked()) {
    return Refuse(ncclInvalidArgument, std::string("CommRevoke: the communicator was ") +
                                           (comm->finalized() ? "finalized" : "revoked before"));
  }
  Group& group = Group::OfThisThread();
  group.Start();
  group.Add(SetUp{comm, comm->blocking(), [comm] { return comm->Revoke(); }});
  return group.End();
}
