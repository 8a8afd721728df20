// Makes the stream memory operations with which a GPU reads and writes the words of a page. The functions are
// pure.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace crossover::gates {

// Returns the operation by which a stream waits until the word at `address` is at or past `value`.
inline CUstreamBatchMemOpParams WaitParams(CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams params{};
  params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  params.waitValue.address = address;
  params.waitValue.value = value;
  params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return params;
}

// Returns the operation by which a stream writes `value` to the word at `address`. All earlier writes of the
// stream are visible before this one.
inline CUstreamBatchMemOpParams WriteParams(CUdeviceptr address, std::uint32_t value) {
  CUstreamBatchMemOpParams params{};
  params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  params.writeValue.address = address;
  params.writeValue.value = value;
  params.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  return params;
}

// Returns the operation by which all stores of a stream so far become visible to the whole system before
// the stream reads or writes anything else.
inline CUstreamBatchMemOpParams BarrierParams() {
  CUstreamBatchMemOpParams params{};
  params.memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  params.memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_SYS;
  return params;
}

}  // namespace crossover::gates
