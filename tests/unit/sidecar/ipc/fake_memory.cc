#include "tests/unit/sidecar/ipc/fake_memory.h"

#include <algorithm>
#include <array>
#include <deque>

#include "proto/signaller_protocol.h"

namespace crossover::test {
namespace {

// Memory of the host, as MemHostAlloc gives it out. It is never freed, and stays reachable.
std::deque<std::array<std::uint32_t, 64>>& Pinned() {
  static auto& pinned = *new std::deque<std::array<std::uint32_t, 64>>();
  return pinned;
}

CUresult Copy(void* to, const void* from, std::size_t bytes) {
  if (!FakeMemory::copies_work) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    __atomic_store_n(static_cast<std::uint32_t*>(to) + i,
                     __atomic_load_n(static_cast<const std::uint32_t*>(from) + i, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
  }
  return CUDA_SUCCESS;
}

CUdeviceptr Address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

void FakeMemory::Clear() {
  for (std::uint32_t* memory : {words, other_words}) {
    std::fill_n(memory, kBytes / 4, 0u);
    memory[0] = CROSSOVER_SIGNAL_MAGIC;
    memory[1] = CROSSOVER_SIGNAL_VERSION;
  }
  imported = words;
  calls.clear();
  busy = false;
  copies_work = true;
  import_answer = CUDA_SUCCESS;
  gpu = 0;
}

gates::Driver FakeMemory::Table() {
  gates::Driver driver;
  driver.CtxSetCurrent = [](CUcontext) { return CUDA_SUCCESS; };
  driver.CtxGetDevice = [](CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
  };
  driver.ThreadExchangeStreamCaptureMode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  driver.StreamCreate = [](CUstream* stream, unsigned int) {
    *stream = reinterpret_cast<CUstream>(0xf0);
    return CUDA_SUCCESS;
  };
  driver.StreamQuery = [](CUstream) { return busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; };
  driver.MemHostAlloc = [](void** memory, std::size_t, unsigned int) {
    *memory = Pinned().emplace_back().data();
    return CUDA_SUCCESS;
  };
  driver.MemImport = [](CUmemGenericAllocationHandle* handle, void*, CUmemAllocationHandleType) {
    *handle = Address(imported);
    return import_answer;
  };
  driver.MemGetProperties = [](CUmemAllocationProp* properties, CUmemGenericAllocationHandle) {
    properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties->location.id = gpu;
    return CUDA_SUCCESS;
  };
  driver.MemRelease = [](CUmemGenericAllocationHandle) { return CUDA_SUCCESS; };
  // The address of a mapping is that of the memory.
  driver.MemAddressReserve = [](CUdeviceptr* address, std::size_t, std::size_t, CUdeviceptr,
                                unsigned long long) {
    *address = Address(imported);
    return CUDA_SUCCESS;
  };
  driver.MemAddressFree = [](CUdeviceptr, std::size_t) { return CUDA_SUCCESS; };
  driver.MemMap = [](CUdeviceptr, std::size_t bytes, std::size_t, CUmemGenericAllocationHandle,
                     unsigned long long) {
    calls.emplace_back("map");
    return bytes == kBytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  driver.MemUnmap = [](CUdeviceptr, std::size_t) {
    calls.emplace_back("unmap");
    return CUDA_SUCCESS;
  };
  driver.MemSetAccess = [](CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
    return CUDA_SUCCESS;
  };
  driver.MemcpyDtoHAsync = [](void* to, CUdeviceptr from, std::size_t bytes, CUstream) {
    return Copy(to, reinterpret_cast<const void*>(from), bytes);
  };
  driver.MemcpyHtoDAsync = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
    return Copy(reinterpret_cast<void*>(to), from, bytes);
  };
  return driver;
}

}  // namespace crossover::test
