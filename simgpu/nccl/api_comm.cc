// Implements the calls that make, query and end communicators.
#include <climits>
#include <cstring>
#include <utility>

#include "simgpu/nccl/export.h"
#include "simgpu/nccl/group.h"
#include "simgpu/nccl/log.h"

namespace {

using simgpu::nccl::CheckComm;
using simgpu::nccl::Config;
using simgpu::nccl::Group;
using simgpu::nccl::Refuse;
using simgpu::nccl::SetUp;

// Makes the handle now. Meets the other ranks at the end of the group.
ncclResult_t AddRank(ncclComm_t* handle, int ranks, const ncclUniqueId& id, int rank, const Config& config) {
  std::unique_ptr<ncclComm> made;
  const ncclResult_t result = ncclComm::Make(ranks, rank, config, &made);
  if (result != ncclSuccess) return result;
  ncclComm* comm = made.release();
  *handle = comm;
  Group::OfThisThread().Add(SetUp{comm, config.blocking, [comm, id] { return comm->Join(id); }});
  return ncclSuccess;
}

ncclResult_t InitRank(ncclComm_t* handle, int ranks, const ncclUniqueId& id, int rank,
                      const ncclConfig_t* given) {
  Config config;
  std::string error;
  if (handle == nullptr) return Refuse(ncclInvalidArgument, "CommInitRank: comm is null");
  *handle = nullptr;
  if (ranks < 1 || ranks > static_cast<int>(simgpu::nccl::kMaxRanks) || rank < 0 || rank >= ranks) {
    return Refuse(ncclInvalidArgument, "CommInitRank: expected a rank below nranks, and nranks from 1 to " +
                                           std::to_string(simgpu::nccl::kMaxRanks) + ", got rank " +
                                           std::to_string(rank) + " of " + std::to_string(ranks));
  }
  if (!ReadConfig(given, &config, &error)) return Refuse(ncclInvalidArgument, error);
  Group& group = Group::OfThisThread();
  return group.Run([&] { return group.Spoil(AddRank(handle, ranks, id, rank, config)); });
}

// Makes a device's primary context current, for ncclCommInitAll: it uses one context for each device.
ncclResult_t UseDevice(const simgpu::nccl::Driver& driver, int ordinal) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult result = driver.cuDeviceGet(&device, ordinal);
  if (result == CUDA_SUCCESS) result = driver.cuDevicePrimaryCtxRetain(&context, device);
  if (result == CUDA_SUCCESS) result = driver.cuCtxSetCurrent(context);
  if (result == CUDA_SUCCESS) return ncclSuccess;
  return Refuse(ncclUnhandledCudaError,
                DriverError(driver, ("device " + std::to_string(ordinal)).c_str(), result));
}

}  // namespace

SIMGPU_NCCL_EXPORT(ncclResult_t, GetUniqueId, ncclUniqueId* uniqueId) {
  std::string error;
  if (uniqueId == nullptr) return Refuse(ncclInvalidArgument, "GetUniqueId: uniqueId is null");
  return simgpu::nccl::StartRoot(uniqueId, &error) ? ncclSuccess : Refuse(ncclSystemError, error);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommInitRank, ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
  return InitRank(comm, nranks, commId, rank, nullptr);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommInitRankConfig, ncclComm_t* comm, int nranks, ncclUniqueId commId,
                   int rank, ncclConfig_t* config) {
  return InitRank(comm, nranks, commId, rank, config);
}

// Every rank lists the same IDs, so the first one is enough.
SIMGPU_NCCL_EXPORT(ncclResult_t, CommInitRankScalable, ncclComm_t* comm, int nranks, int rank, int nId,
                   ncclUniqueId* commIds, ncclConfig_t* config) {
  if (nId < 1 || commIds == nullptr) return Refuse(ncclInvalidArgument, "CommInitRankScalable: no id");
  return InitRank(comm, nranks, commIds[0], rank, config);
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommInitAll, ncclComm_t* comms, int ndev, const int* devlist) {
  if (comms == nullptr || ndev < 1)
    return Refuse(ncclInvalidArgument, "CommInitAll: no communicator asked for");
  std::string error;
  const simgpu::nccl::Driver* driver = simgpu::nccl::LoadDriver(&error);
  if (driver == nullptr) return Refuse(ncclUnhandledCudaError, error);
  ncclUniqueId id;
  if (const ncclResult_t result = pncclGetUniqueId(&id); result != ncclSuccess) return result;
  CUcontext before = nullptr;
  driver->cuCtxGetCurrent(&before);
  Group& group = Group::OfThisThread();
  group.Start();
  ncclResult_t result = ncclSuccess;
  for (int i = 0; i < ndev && result == ncclSuccess; ++i) {
    result = UseDevice(*driver, devlist == nullptr ? i : devlist[i]);
    if (result == ncclSuccess) result = AddRank(&comms[i], ndev, id, i, Config{});
  }
  group.Spoil(result);
  driver->cuCtxSetCurrent(before);
  const ncclResult_t ended = group.End();
  return result != ncclSuccess ? result : ended;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommFinalize, ncclComm_t comm) {
  if (const ncclResult_t result = CheckComm("CommFinalize", comm); result != ncclSuccess) return result;
  if (comm->finalized())
    return Refuse(ncclInvalidUsage, "CommFinalize: the communicator was finalized before");
  if (comm->revoked()) return Refuse(ncclInvalidUsage, "CommFinalize: the communicator was revoked");
  Group& group = Group::OfThisThread();
  group.Start();
  group.Add(SetUp{comm, comm->blocking(), [comm] { return comm->Finalize(); }});
  return group.End();
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommDestroy, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const ncclResult_t result = CheckComm("CommDestroy", comm); result != ncclSuccess) return result;
  comm->AwaitJob();
  if (!comm->finalized()) comm->Finalize();  // its failure was reported where it happened
  delete comm;
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommAbort, ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const ncclResult_t result = CheckComm("CommAbort", comm); result != ncclSuccess) return result;
  comm->Abort();
  comm->Finalize();
  delete comm;
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommGetAsyncError, ncclComm_t comm, ncclResult_t* asyncError) {
  if (const ncclResult_t result = CheckComm("CommGetAsyncError", comm); result != ncclSuccess) return result;
  if (asyncError == nullptr) return Refuse(ncclInvalidArgument, "CommGetAsyncError: asyncError is null");
  *asyncError = comm->AsyncError();
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommCount, const ncclComm_t comm, int* count) {
  if (const ncclResult_t result = CheckComm("CommCount", comm); result != ncclSuccess) return result;
  if (count == nullptr) return Refuse(ncclInvalidArgument, "CommCount: count is null");
  *count = comm->ranks();
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommCuDevice, const ncclComm_t comm, int* device) {
  if (const ncclResult_t result = CheckComm("CommCuDevice", comm); result != ncclSuccess) return result;
  if (device == nullptr) return Refuse(ncclInvalidArgument, "CommCuDevice: device is null");
  *device = comm->device();
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommUserRank, const ncclComm_t comm, int* rank) {
  if (const ncclResult_t result = CheckComm("CommUserRank", comm); result != ncclSuccess) return result;
  if (rank == nullptr) return Refuse(ncclInvalidArgument, "CommUserRank: rank is null");
  *rank = comm->rank();
  return ncclSuccess;
}

// Registration makes calls faster on real hardware. Here it is accepted and has no effect.
SIMGPU_NCCL_EXPORT(ncclResult_t, CommRegister, const ncclComm_t comm, void* buff, size_t, void** handle) {
  if (const ncclResult_t result = CheckComm("CommRegister", comm); result != ncclSuccess) return result;
  if (buff == nullptr || handle == nullptr) return Refuse(ncclInvalidArgument, "CommRegister: null argument");
  *handle = buff;
  return ncclSuccess;
}

SIMGPU_NCCL_EXPORT(ncclResult_t, CommDeregister, const ncclComm_t comm, void*) {
  return CheckComm("CommDeregister", comm);
}
