// Implements copies of rectangles and boxes in linear memory. This library has no arrays.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/refuse.h"

using namespace simgpu::runtime;

namespace {

// A Side of a copy says which memory it is, and where.
struct Side {
  CUmemorytype type;
  const void* pointer;
};

// Finds the kinds of memory of both sides. With cudaMemcpyDefault the driver finds them by the addresses.
bool TypesOf(cudaMemcpyKind kind, CUmemorytype* target, CUmemorytype* source) {
  switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyHostToDevice:
    case cudaMemcpyDeviceToHost:
    case cudaMemcpyDeviceToDevice:
      *target = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                                                                   : CU_MEMORYTYPE_HOST;
      *source = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ? CU_MEMORYTYPE_DEVICE
                                                                                   : CU_MEMORYTYPE_HOST;
      return true;
    case cudaMemcpyDefault:
      *target = *source = CU_MEMORYTYPE_UNIFIED;
      return true;
  }
  return false;
}

// Fills in the sides of a CUDA_MEMCPY2D or CUDA_MEMCPY3D. Each side is given as a host and as a device
// address; the driver reads the one that the type names.
template <typename Shape>
void SetSides(Shape* shape, const Side& target, const Side& source) {
  shape->dstMemoryType = target.type;
  shape->dstHost = const_cast<void*>(target.pointer);
  shape->dstDevice = reinterpret_cast<CUdeviceptr>(target.pointer);
  shape->srcMemoryType = source.type;
  shape->srcHost = source.pointer;
  shape->srcDevice = reinterpret_cast<CUdeviceptr>(source.pointer);
}

cudaError_t Rectangle(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                      size_t width, size_t height, cudaMemcpyKind kind, CUDA_MEMCPY2D* rectangle) {
  Side to{CU_MEMORYTYPE_HOST, target}, from{CU_MEMORYTYPE_HOST, source};
  if (!TypesOf(kind, &to.type, &from.type)) return cudaErrorInvalidMemcpyDirection;
  if (width > target_pitch || width > source_pitch) return cudaErrorInvalidPitchValue;
  *rectangle = {};
  SetSides(rectangle, to, from);
  rectangle->dstPitch = target_pitch;
  rectangle->srcPitch = source_pitch;
  rectangle->WidthInBytes = width;
  rectangle->Height = height;
  return cudaSuccess;
}

cudaError_t Box(const cudaMemcpy3DParms* wanted, CUDA_MEMCPY3D* box) {
  if (wanted == nullptr) return cudaErrorInvalidValue;
  if (wanted->srcArray != nullptr || wanted->dstArray != nullptr) {
    Refuse("cudaMemcpy3D with an array", "this library has no arrays");
    return cudaErrorNotSupported;
  }
  Side to{CU_MEMORYTYPE_HOST, wanted->dstPtr.ptr}, from{CU_MEMORYTYPE_HOST, wanted->srcPtr.ptr};
  if (!TypesOf(wanted->kind, &to.type, &from.type)) return cudaErrorInvalidMemcpyDirection;
  if (wanted->extent.width > wanted->dstPtr.pitch || wanted->extent.width > wanted->srcPtr.pitch)
    return cudaErrorInvalidPitchValue;
  *box = {};
  SetSides(box, to, from);
  box->dstPitch = wanted->dstPtr.pitch;
  box->dstHeight = wanted->dstPtr.ysize;
  box->dstXInBytes = wanted->dstPos.x;
  box->dstY = wanted->dstPos.y;
  box->dstZ = wanted->dstPos.z;
  box->srcPitch = wanted->srcPtr.pitch;
  box->srcHeight = wanted->srcPtr.ysize;
  box->srcXInBytes = wanted->srcPos.x;
  box->srcY = wanted->srcPos.y;
  box->srcZ = wanted->srcPos.z;
  box->WidthInBytes = wanted->extent.width;
  box->Height = wanted->extent.height;
  box->Depth = wanted->extent.depth;
  return cudaSuccess;
}

}  // namespace

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpy2D, _ptds,
                           (void* target, size_t target_pitch, const void* source, size_t source_pitch,
                            size_t width, size_t height, cudaMemcpyKind kind),
                           (target, target_pitch, source, source_pitch, width, height, kind)) {
  return WithContext([&](const Driver& driver) {
    CUDA_MEMCPY2D rectangle;
    const cudaError_t error =
        Rectangle(target, target_pitch, source, source_pitch, width, height, kind, &rectangle);
    if (error != cudaSuccess || width == 0 || height == 0) return error;
    return ErrorOf((driver.*calls).cuMemcpy2DUnaligned(&rectangle));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpy2DAsync, _ptsz,
                           (void* target, size_t target_pitch, const void* source, size_t source_pitch,
                            size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream),
                           (target, target_pitch, source, source_pitch, width, height, kind, stream)) {
  return WithContext([&](const Driver& driver) {
    CUDA_MEMCPY2D rectangle;
    const cudaError_t error =
        Rectangle(target, target_pitch, source, source_pitch, width, height, kind, &rectangle);
    if (error != cudaSuccess || width == 0 || height == 0) return error;
    return ErrorOf((driver.*calls).cuMemcpy2DAsync(&rectangle, stream));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpy3D, _ptds, (const cudaMemcpy3DParms* parameters), (parameters)) {
  return WithContext([&](const Driver& driver) {
    CUDA_MEMCPY3D box;
    const cudaError_t error = Box(parameters, &box);
    return error != cudaSuccess ? error : ErrorOf((driver.*calls).cuMemcpy3D(&box));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaMemcpy3DAsync, _ptsz,
                           (const cudaMemcpy3DParms* parameters, cudaStream_t stream), (parameters, stream)) {
  return WithContext([&](const Driver& driver) {
    CUDA_MEMCPY3D box;
    const cudaError_t error = Box(parameters, &box);
    return error != cudaSuccess ? error : ErrorOf((driver.*calls).cuMemcpy3DAsync(&box, stream));
  });
}
