// Implements ncclAlltoAll, ncclGather and ncclScatter as groups of sends and receives, as NCCL does.
#include "simgpu/collectives/exchange.h"
#include "simgpu/nccl/export.h"
#include "simgpu/nccl/group.h"
#include "simgpu/nccl/log.h"

namespace {

using simgpu::nccl::Exchange;
using simgpu::nccl::Group;
using simgpu::nccl::Leg;
using simgpu::nccl::Pattern;
using simgpu::nccl::Refuse;

// Adds all legs to the thread's group. If the call is refused, spoils the group and returns why.
ncclResult_t Enqueue(const Exchange& exchange, ncclComm_t comm, cudaStream_t stream) {
  Group& group = Group::OfThisThread();
  if (const ncclResult_t result = simgpu::nccl::CheckUsable(Name(exchange.pattern), comm);
      result != ncclSuccess)
    return group.Spoil(result);
  const std::string fault = FindFault(exchange, comm->rank(), comm->ranks());
  if (!fault.empty()) {
    return group.Spoil(Refuse(ncclInvalidArgument, std::string(Name(exchange.pattern)) + ": " + fault));
  }
  for (const Leg& leg : Legs(exchange, comm->rank(), comm->ranks())) {
    group.Add(comm,
              {{leg.function, exchange.type, ncclSum, leg.peer, exchange.count}, leg.send, leg.recv, stream});
  }
  return ncclSuccess;
}

ncclResult_t Submit(const Exchange& exchange, ncclComm_t comm, cudaStream_t stream) {
  return Group::OfThisThread().Run([&] { return Enqueue(exchange, comm, stream); });
}

}  // namespace

SIMGPU_NCCL_EXPORT(ncclResult_t, AlltoAll, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return Submit({Pattern::kAlltoAll, sendbuff, recvbuff, count, datatype, 0}, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Gather, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return Submit({Pattern::kGather, sendbuff, recvbuff, count, datatype, root}, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, Scatter, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return Submit({Pattern::kScatter, sendbuff, recvbuff, count, datatype, root}, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, AlltoAllConfig, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream, const ncclCollConfig_t*) {
  return pncclAlltoAll(sendbuff, recvbuff, count, datatype, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, GatherConfig, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream,
                   const ncclCollConfig_t*) {
  return pncclGather(sendbuff, recvbuff, count, datatype, root, comm, stream);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, ScatterConfig, const void* sendbuff, void* recvbuff, size_t count,
                   ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream,
                   const ncclCollConfig_t*) {
  return pncclScatter(sendbuff, recvbuff, count, datatype, root, comm, stream);
}
