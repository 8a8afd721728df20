// Implements events.
#include <cstring>

#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle));
static_assert(unsigned{cudaEventInterprocess} == unsigned{CU_EVENT_INTERPROCESS});

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return WithContext([&](const Driver& driver) { return driver.cuEventCreate(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return WithContext([&](const Driver& driver) { return driver.cuEventDestroy(event); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return WithContext([&](const Driver& driver) { return driver.cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return WithContext([&](const Driver& driver) { return driver.cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuEventElapsedTime(milliseconds, begin, end); });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return WithContext([&](const Driver& driver) {
    return driver.cuIpcGetEventHandle(reinterpret_cast<CUipcEventHandle*>(handle), event);
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return WithContext([&](const Driver& driver) {
    CUipcEventHandle own;
    std::memcpy(&own, &handle, sizeof own);
    return driver.cuIpcOpenEventHandle(event, own);
  });
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(cudaEventRecord, _ptsz, (cudaEvent_t event, cudaStream_t stream),
                           (event, stream)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuEventRecord(event, stream); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaEventRecordWithFlags, _ptsz,
                           (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags)) {
  return WithContext(
      [&](const Driver& driver) { return (driver.*calls).cuEventRecordWithFlags(event, stream, flags); });
}
