#include "sidecar/gates/probe.h"

#include "sidecar/gates/memory_operations.h"

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

}  // namespace crossover::gates
