#include "sidecar/gates/probe.h"

namespace crossover::gates {

bool HasMemoryOperations(const Driver& driver) {
  return driver.StreamBatchMemOp != nullptr && driver.MemHostGetDevicePointer != nullptr &&
         driver.StreamCreate != nullptr && driver.StreamDestroy != nullptr &&
         driver.StreamSynchronize != nullptr;
}

bool Probe(const Driver& driver, CUstreamBatchMemOpParams* operations, unsigned int count) {
  CUstream stream = nullptr;
  if (driver.StreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return false;
  const bool works = driver.StreamBatchMemOp(stream, count, operations, 0) == CUDA_SUCCESS &&
                     driver.StreamSynchronize(stream) == CUDA_SUCCESS;
  driver.StreamDestroy(stream);
  return works;
}

bool ProbeWait(const Driver& driver, CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams wait = WaitParams(address, value);
  return Probe(driver, &wait, 1);
}

CUstreamBatchMemOpParams WaitParams(CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams params{};
  params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  params.waitValue.address = address;
  params.waitValue.value = value;
  params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return params;
}

CUstreamBatchMemOpParams WriteParams(CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams params{};
  params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  params.writeValue.address = address;
  params.writeValue.value = value;
  params.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  return params;
}

CUstreamBatchMemOpParams BarrierParams() {
  CUstreamBatchMemOpParams params{};
  params.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  params.memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS;
  return params;
}

}  // namespace crossover::gates
