#include "sidecar/gates/probe.h"

namespace crossover::gates {

bool HasMemoryOperations(const Driver& driver) {
  return driver.StreamBatchMemOp != nullptr && driver.MemHostGetDevicePointer != nullptr &&
         driver.StreamCreate != nullptr && driver.StreamDestroy != nullptr &&
         driver.StreamSynchronize != nullptr;
}

bool ProbeWait(const Driver& driver, CUdeviceptr address, std::uint32_t value) {
  CUstream stream = nullptr;
  if (driver.StreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return false;
  CUstreamBatchMemOpParams params = WaitParams(address, value);
  const bool works = driver.StreamBatchMemOp(stream, 1, &params, 0) == CUDA_SUCCESS &&
                     driver.StreamSynchronize(stream) == CUDA_SUCCESS;
  driver.StreamDestroy(stream);
  return works;
}

CUstreamBatchMemOpParams WaitParams(CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams params{};
  params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  params.waitValue.address = address;
  params.waitValue.value = value;
  params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return params;
}

}  // namespace crossover::gates
