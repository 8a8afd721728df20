// Implements the calls that move data.
#include "simgpu/nccl/export.h"
#include "simgpu/nccl/group.h"
#include "simgpu/nccl/log.h"

namespace {

using simgpu::nccl::Call;
using simgpu::nccl::CanReduce;
using simgpu::nccl::Function;
using simgpu::nccl::Group;
using simgpu::nccl::Name;
using simgpu::nccl::PendingCall;
using simgpu::nccl::Refuse;

// Returns what is wrong with the arguments, or an empty string.
std::string FindFault(const PendingCall& pending, const ncclComm& comm) {
  const Call& call = pending.call;
  const int ranks = comm.ranks();
  if (simgpu::nccl::SizeOf(call.type) == 0)
    return "datatype " + std::to_string(call.type) + " does not exist";
  if (Reduces(call.function)) {
    if (call.op < 0 || call.op >= ncclNumOps) return "op " + std::to_string(call.op) + " does not exist";
    if (!CanReduce(call.type)) return std::string("reductions of ") + Name(call.type) + " are not supported";
  }
  const bool rooted = IsPointToPoint(call.function) || call.function == Function::kBroadcast ||
                      call.function == Function::kReduce;
  if (rooted && (call.root < 0 || call.root >= ranks)) {
    return "rank " + std::to_string(call.root) + " is not in 0.." + std::to_string(ranks - 1);
  }
  if (call.count > (std::uint64_t{1} << 48) / static_cast<std::uint64_t>(ranks)) return "count is too large";
  const bool reads =
      call.function != Function::kRecv && (call.function != Function::kBroadcast || call.root == comm.rank());
  const bool writes =
      call.function != Function::kSend && (call.function != Function::kReduce || call.root == comm.rank());
  if (call.count > 0 && reads && pending.send == nullptr) return "sendbuff is null";
  if (call.count > 0 && writes && pending.recv == nullptr) return "recvbuff is null";
  return "";
}

// Adds the call to the thread's group. Spoils the group if the call is refused.
ncclResult_t Enqueue(ncclComm_t comm, const PendingCall& pending) {
  Group& group = Group::OfThisThread();
  if (const ncclResult_t result = simgpu::nccl::CheckUsable(Name(pending.call.function), comm);
      result != ncclSuccess)
    return group.Spoil(result);
  if (const std::string fault = FindFault(pending, *comm); !fault.empty()) {
    return group.Spoil(Refuse(ncclInvalidArgument, std::string(Name(pending.call.function)) + ": " + fault));
  }
  if (pending.call.count > 0) group.Add(comm, pending);
  return ncclSuccess;
}

ncclResult_t Submit(Function function, const void* send, void* recv, std::size_t count, ncclDataType_t type,
                    ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return Group::OfThisThread().Run([&] {
    return Enqueue(comm, {{function, type, op, root, count}, send, recv, stream});
  });
}

}  // namespace

SIMGPU_NCCL_EXPORT(ncclResult_t, AllReduce, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kAllReduce, sendbuff, recvbuff, count, datatype, op, -1, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Broadcast, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kBroadcast, sendbuff, recvbuff, count, datatype, ncclSum, root, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Bcast, void* buff, size_t count, ncclDataType_t datatype, int root,
                   ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kBroadcast, buff, buff, count, datatype, ncclSum, root, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Reduce, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kReduce, sendbuff, recvbuff, count, datatype, op, root, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, AllGather, const void* sendbuff, void* recvbuff, size_t sendcount,
                   ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kAllGather, sendbuff, recvbuff, sendcount, datatype, ncclSum, -1, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, ReduceScatter, const void* sendbuff, void* recvbuff, size_t recvcount,
                   ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kReduceScatter, sendbuff, recvbuff, recvcount, datatype, op, -1, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Send, const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
                   ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kSend, sendbuff, nullptr, count, datatype, ncclSum, peer, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Recv, void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                   ncclComm_t comm, cudaStream_t stream) {
  return Submit(Function::kRecv, nullptr, recvbuff, count, datatype, ncclSum, peer, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, AllReduceConfig, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                   const ncclCollConfig_t*) {
  return pncclAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, BroadcastConfig, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream,
                   const ncclCollConfig_t*) {
  return pncclBroadcast(sendbuff, recvbuff, count, datatype, root, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, ReduceConfig, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream,
                   const ncclCollConfig_t*) {
  return pncclReduce(sendbuff, recvbuff, count, datatype, op, root, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, AllGatherConfig, const void* sendbuff, void* recvbuff, size_t sendcount,
                   ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t*) {
  return pncclAllGather(sendbuff, recvbuff, sendcount, datatype, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, ReduceScatterConfig, const void* sendbuff, void* recvbuff, size_t recvcount,
                   ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream,
                   const ncclCollConfig_t*) {
  return pncclReduceScatter(sendbuff, recvbuff, recvcount, datatype, op, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, GroupStart, void) {
  Group::OfThisThread().Start();
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, GroupEnd, void) { return Group::OfThisThread().End(); }
