// Implements copies of ranges: between host and device, between devices, to and from variables.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/images.h"

using namespace simgpu::runtime;

namespace {

CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Copies and waits, except between devices, if the driver's call does not wait either.
cudaError_t Copy(const StreamCalls& calls, void* target, const void* source, size_t bytes,
                 cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return ErrorOf(calls.cuMemcpyHtoD(Address(target), source, bytes));
    case cudaMemcpyDeviceToHost:
      return ErrorOf(calls.cuMemcpyDtoH(target, Address(source), bytes));
    case cudaMemcpyDeviceToDevice:
      return ErrorOf(calls.cuMemcpyDtoD(Address(target), Address(source), bytes));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return ErrorOf(calls.cuMemcpy(Address(target), Address(source), bytes));
  }
  return cudaErrorInvalidMemcpyDirection;
}

cudaError_t CopyAsync(const StreamCalls& calls, void* target, const void* source, size_t bytes,
                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return ErrorOf(calls.cuMemcpyHtoDAsync(Address(target), source, bytes, stream));
    case cudaMemcpyDeviceToHost:
      return ErrorOf(calls.cuMemcpyDtoHAsync(target, Address(source), bytes, stream));
    case cudaMemcpyDeviceToDevice:
      return ErrorOf(calls.cuMemcpyDtoDAsync(Address(target), Address(source), bytes, stream));
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return ErrorOf(calls.cuMemcpyAsync(Address(target), Address(source), bytes, stream));
  }
  return cudaErrorInvalidMemcpyDirection;
}

// Finds `bytes` of a variable from `offset` on. Returns cudaErrorInvalidValue if it is shorter.
cudaError_t RangeOf(const Driver& driver, const void* symbol, size_t offset, size_t bytes, void** range) {
  CUdeviceptr address = 0;
  size_t size = 0;
  if (const cudaError_t error = FindVariable(driver, symbol, &address, &size); error != cudaSuccess)
    return error;
  if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
  *range = reinterpret_cast<void*>(address + offset);
  return cudaSuccess;
}

bool IntoDevice(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}
bool FromDevice(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

// Runs call(driver, context of `target`, context of `source`).
template <typename Call>
cudaError_t WithPeers(int target, int source, Call&& call) {
  return WithContext([&](const Driver& driver) {
    CUcontext to = nullptr, from = nullptr;
    if (const cudaError_t error = PrimaryContext(driver, target, &to); error != cudaSuccess) return error;
    if (const cudaError_t error = PrimaryContext(driver, source, &from); error != cudaSuccess) return error;
    return ErrorOf(call(driver, to, from));
  });
}

}  // namespace

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpy, _ptds,
                           (void* target, const void* source, size_t bytes, cudaMemcpyKind kind),
                           (target, source, bytes, kind)) {
  return WithContext([&](const Driver& driver) { return Copy(driver.*calls, target, source, bytes, kind); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpyAsync, _ptsz,
                           (void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream),
                           (target, source, bytes, kind, stream)) {
  return WithContext(
      [&](const Driver& driver) { return CopyAsync(driver.*calls, target, source, bytes, kind, stream); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpyToSymbol, _ptds,
                           (const void* symbol, const void* source, size_t bytes, size_t offset,
                            cudaMemcpyKind kind),
                           (symbol, source, bytes, offset, kind)) {
  return WithContext([&](const Driver& driver) {
    if (!IntoDevice(kind)) return cudaErrorInvalidMemcpyDirection;
    void* target = nullptr;
    const cudaError_t error = RangeOf(driver, symbol, offset, bytes, &target);
    return error != cudaSuccess ? error : Copy(driver.*calls, target, source, bytes, kind);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpyToSymbolAsync, _ptsz,
                           (const void* symbol, const void* source, size_t bytes, size_t offset,
                            cudaMemcpyKind kind, cudaStream_t stream),
                           (symbol, source, bytes, offset, kind, stream)) {
  return WithContext([&](const Driver& driver) {
    if (!IntoDevice(kind)) return cudaErrorInvalidMemcpyDirection;
    void* target = nullptr;
    const cudaError_t error = RangeOf(driver, symbol, offset, bytes, &target);
    return error != cudaSuccess ? error : CopyAsync(driver.*calls, target, source, bytes, kind, stream);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpyFromSymbol, _ptds,
                           (void* target, const void* symbol, size_t bytes, size_t offset,
                            cudaMemcpyKind kind),
                           (target, symbol, bytes, offset, kind)) {
  return WithContext([&](const Driver& driver) {
    if (!FromDevice(kind)) return cudaErrorInvalidMemcpyDirection;
    void* source = nullptr;
    const cudaError_t error = RangeOf(driver, symbol, offset, bytes, &source);
    return error != cudaSuccess ? error : Copy(driver.*calls, target, source, bytes, kind);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpyFromSymbolAsync, _ptsz,
                           (void* target, const void* symbol, size_t bytes, size_t offset,
                            cudaMemcpyKind kind, cudaStream_t stream),
                           (target, symbol, bytes, offset, kind, stream)) {
  return WithContext([&](const Driver& driver) {
    if (!FromDevice(kind)) return cudaErrorInvalidMemcpyDirection;
    void* source = nullptr;
    const cudaError_t error = RangeOf(driver, symbol, offset, bytes, &source);
    return error != cudaSuccess ? error : CopyAsync(driver.*calls, target, source, bytes, kind, stream);
  });
}

extern "C" {

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes) {
  return WithPeers(target_device, source_device, [&](const Driver& driver, CUcontext to, CUcontext from) {
    return driver.legacy.cuMemcpyPeer(Address(target), to, Address(source), from, bytes);
  });
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source, int source_device,
                                size_t bytes, cudaStream_t stream) {
  return WithPeers(target_device, source_device, [&](const Driver& driver, CUcontext to, CUcontext from) {
    return driver.legacy.cuMemcpyPeerAsync(Address(target), to, Address(source), from, bytes, stream);
  });
}

}  // extern "C"
