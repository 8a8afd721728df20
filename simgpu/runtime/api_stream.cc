// Implements streams.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

// A value of a stream's attribute has one layout in both interfaces.
static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
static_assert(unsigned{cudaStreamNonBlocking} == unsigned{CU_STREAM_NON_BLOCKING});

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return WithContext([&](const Driver& driver) { return driver.cuStreamCreate(stream, CU_STREAM_DEFAULT); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return WithContext([&](const Driver& driver) { return driver.cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return WithContext([&](const Driver& driver) { return driver.cuStreamDestroy(stream); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuCtxGetStreamPriorityRange(least, greatest); });
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamSynchronize, _ptsz, (cudaStream_t stream), (stream)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuStreamSynchronize(stream); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamQuery, _ptsz, (cudaStream_t stream), (stream)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuStreamQuery(stream); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamWaitEvent, _ptsz,
                           (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags)) {
  return WithContext(
      [&](const Driver& driver) { return (driver.*calls).cuStreamWaitEvent(stream, event, flags); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamGetPriority, _ptsz, (cudaStream_t stream, int* priority),
                           (stream, priority)) {
  return WithContext(
      [&](const Driver& driver) { return (driver.*calls).cuStreamGetPriority(stream, priority); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamGetFlags, _ptsz, (cudaStream_t stream, unsigned* flags),
                           (stream, flags)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuStreamGetFlags(stream, flags); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamGetId, _ptsz, (cudaStream_t stream, unsigned long long* id),
                           (stream, id)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuStreamGetId(stream, id); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamGetDevice, _ptsz, (cudaStream_t stream, int* device), (stream, device)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuStreamGetDevice(stream, device); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamGetAttribute, _ptsz,
                           (cudaStream_t stream, cudaLaunchAttributeID attribute,
                            cudaLaunchAttributeValue* value),
                           (stream, attribute, value)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls)
        .cuStreamGetAttribute(stream, static_cast<CUstreamAttrID>(attribute),
                              reinterpret_cast<CUstreamAttrValue*>(value));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamSetAttribute, _ptsz,
                           (cudaStream_t stream, cudaLaunchAttributeID attribute,
                            const cudaLaunchAttributeValue* value),
                           (stream, attribute, value)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls)
        .cuStreamSetAttribute(stream, static_cast<CUstreamAttrID>(attribute),
                              reinterpret_cast<const CUstreamAttrValue*>(value));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamCopyAttributes, _ptsz, (cudaStream_t target, cudaStream_t source),
                           (target, source)) {
  return WithContext(
      [&](const Driver& driver) { return (driver.*calls).cuStreamCopyAttributes(target, source); });
}
