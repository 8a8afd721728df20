// Implements the calls about the library itself and about memory.
#include "simgpu/nccl/comm.h"
#include "simgpu/nccl/config.h"
#include "simgpu/nccl/driver.h"
#include "simgpu/nccl/export.h"
#include "simgpu/nccl/log.h"

using simgpu::nccl::Refuse;

SIMGPU_NCCL_EXPORT(ncclResult_t, GetVersion, int* version) {
  std::string error;
  if (version == nullptr) return Refuse(ncclInvalidArgument, "GetVersion: version is null");
  *version = simgpu::nccl::LibraryVersion(&error);
  return *version != 0 ? ncclSuccess : Refuse(ncclInvalidUsage, error);
}

SIMGPU_NCCL_EXPORT(const char*, GetErrorString, ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=WARN for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=WARN for details)";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

SIMGPU_NCCL_EXPORT(const char*, GetLastError, ncclComm_t comm) {
  const char* text = comm != nullptr && comm->valid() ? comm->FailureText() : nullptr;
  return text != nullptr ? text : simgpu::nccl::LastError();
}

SIMGPU_NCCL_EXPORT(ncclResult_t, MemAlloc, void** ptr, size_t size) {
  std::string error;
  const simgpu::nccl::Driver* driver = simgpu::nccl::LoadDriver(&error);
  if (ptr == nullptr) return Refuse(ncclInvalidArgument, "MemAlloc: ptr is null");
  if (driver == nullptr) return Refuse(ncclUnhandledCudaError, error);
  CUdeviceptr address = 0;
  const CUresult result = driver->cuMemAlloc(&address, size);
  *ptr = reinterpret_cast<void*>(address);
  return result == CUDA_SUCCESS ? ncclSuccess
                                : Refuse(ncclUnhandledCudaError, DriverError(*driver, "cuMemAlloc", result));
}

SIMGPU_NCCL_EXPORT(ncclResult_t, MemFree, void* ptr) {
  std::string error;
  const simgpu::nccl::Driver* driver = simgpu::nccl::LoadDriver(&error);
  if (driver == nullptr) return Refuse(ncclUnhandledCudaError, error);
  const CUresult result = driver->cuMemFree(reinterpret_cast<CUdeviceptr>(ptr));
  return result == CUDA_SUCCESS ? ncclSuccess
                                : Refuse(ncclUnhandledCudaError, DriverError(*driver, "cuMemFree", result));
}
