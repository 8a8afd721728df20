// Implements fills of ranges, rectangles and boxes.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

namespace {

unsigned char Byte(int value) { return static_cast<unsigned char>(value); }

// Calls fill(address of a slice) for each slice of a box, and stops at the first error.
template <typename Fill>
CUresult EachSlice(const cudaPitchedPtr& memory, const cudaExtent& extent, Fill&& fill) {
  for (size_t slice = 0; slice < extent.depth; ++slice) {
    const auto begin = reinterpret_cast<CUdeviceptr>(memory.ptr) + slice * memory.pitch * memory.ysize;
    if (const CUresult result = fill(begin); result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace

SIMGPU_RUNTIME_STREAM_CALL(cudaMemset, _ptds, (void* target, int value, size_t bytes),
                           (target, value, bytes)) {
  return WithContext([&](const Driver& driver) {
    if (bytes == 0) return CUDA_SUCCESS;
    return (driver.*calls).cuMemsetD8(reinterpret_cast<CUdeviceptr>(target), Byte(value), bytes);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemsetAsync, _ptsz,
                           (void* target, int value, size_t bytes, cudaStream_t stream),
                           (target, value, bytes, stream)) {
  return WithContext([&](const Driver& driver) {
    if (bytes == 0) return CUDA_SUCCESS;
    return (driver.*calls).cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(target), Byte(value), bytes, stream);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemset2D, _ptds,
                           (void* target, size_t pitch, int value, size_t width, size_t height),
                           (target, pitch, value, width, height)) {
  return WithContext([&](const Driver& driver) {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    return (driver.*calls)
        .cuMemsetD2D8(reinterpret_cast<CUdeviceptr>(target), pitch, Byte(value), width, height);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemset2DAsync, _ptsz,
                           (void* target, size_t pitch, int value, size_t width, size_t height,
                            cudaStream_t stream),
                           (target, pitch, value, width, height, stream)) {
  return WithContext([&](const Driver& driver) {
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    return (driver.*calls)
        .cuMemsetD2D8Async(reinterpret_cast<CUdeviceptr>(target), pitch, Byte(value), width, height, stream);
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemset3D, _ptds, (cudaPitchedPtr memory, int value, cudaExtent extent),
                           (memory, value, extent)) {
  return WithContext([&](const Driver& driver) {
    if (extent.width == 0 || extent.height == 0) return CUDA_SUCCESS;
    return EachSlice(memory, extent, [&](CUdeviceptr begin) {
      return (driver.*calls).cuMemsetD2D8(begin, memory.pitch, Byte(value), extent.width, extent.height);
    });
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemset3DAsync, _ptsz,
                           (cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream),
                           (memory, value, extent, stream)) {
  return WithContext([&](const Driver& driver) {
    if (extent.width == 0 || extent.height == 0) return CUDA_SUCCESS;
    return EachSlice(memory, extent, [&](CUdeviceptr begin) {
      return (driver.*calls)
          .cuMemsetD2D8Async(begin, memory.pitch, Byte(value), extent.width, extent.height, stream);
    });
  });
}
