// Implements copies of rectangles and boxes in linear memory. There are no arrays.
#include <cstring>

#include "simgpu/copies/slice.h"
#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/memory.h"

using namespace simgpu;

namespace {

// A Side is one end of a copy: its first byte, and the bytes from one row and from one slice to the next.
struct Side {
  CUmemorytype type;
  std::uintptr_t begin;
  std::size_t pitch;
  std::size_t slice;

  bool on_device() const { return type == CU_MEMORYTYPE_DEVICE; }
};

struct Extent {
  std::size_t width, height, depth;  // bytes, rows, slices
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// Returns the end of a copy that begins at byte `x` of row `y` of slice `z`. A pitch of 0 means rows without
// gaps.
Side SideOf(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t x, std::size_t y,
            std::size_t z, std::size_t pitch, std::size_t rows, std::size_t width) {
  if (pitch == 0) pitch = width;
  const std::uintptr_t memory = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host) : device;
  return {type, memory + z * pitch * rows + y * pitch + x, pitch, pitch * rows};
}

bool IsPageable(const Side& side) { return !FindAllocation(side.begin); }

// Returns an error if a copy cannot use the side. Device memory must come from this library, and hold the
// whole side.
CUresult Check(const Side& side, const Extent& extent) {
  if (side.type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (extent.width > side.pitch) return CUDA_ERROR_INVALID_VALUE;
  if (!side.on_device()) return CUDA_SUCCESS;
  const auto memory = FindAllocation(side.begin);
  const std::size_t bytes = (extent.depth - 1) * side.slice + (extent.height - 1) * side.pitch + extent.width;
  return memory && bytes <= memory->base + memory->bytes - side.begin ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_INVALID_VALUE;
}

WorkPtr MakeCopy(const Side& target, const Side& source, const Extent& extent) {
  return InASlice(MakeHostWork([=] {
    for (std::size_t z = 0; z < extent.depth; ++z) {
      for (std::size_t y = 0; y < extent.height; ++y) {
        std::memmove(reinterpret_cast<void*>(target.begin + z * target.slice + y * target.pitch),
                     reinterpret_cast<const void*>(source.begin + z * source.slice + y * source.pitch),
                     extent.width);
      }
    }
  }));
}

enum class Wait { kNo, kYes };

// Queues a copy. Waits for its end as the calls for ranges do: if `wait` says so, unless both sides are on
// devices, and if memory is pageable.
CUresult Copy(CUstream handle, Wait wait, const Side& target, const Side& source, const Extent& extent) {
  StreamPtr stream;
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  if (extent.empty()) return CUDA_SUCCESS;
  for (const Side* side : {&target, &source}) {
    if (const CUresult error = Check(*side, extent); error != CUDA_SUCCESS) return error;
  }
  const bool on_devices = target.on_device() && source.on_device();
  const bool pageable = !IsCapturing(*stream) && (IsPageable(target) || IsPageable(source));
  if (pageable || (wait == Wait::kYes && !on_devices)) {
    if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
    return SubmitAndWait(stream, MakeCopy(target, source, extent));
  }
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, MakeCopy(target, source, extent));
}

CUresult Copy(CUstream stream, Wait wait, const CUDA_MEMCPY2D* copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Copy(stream, wait,
              SideOf(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes, copy->dstY, 0,
                     copy->dstPitch, 0, copy->WidthInBytes),
              SideOf(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes, copy->srcY, 0,
                     copy->srcPitch, 0, copy->WidthInBytes),
              {copy->WidthInBytes, copy->Height, 1});
}

CUresult Copy(CUstream stream, Wait wait, const CUDA_MEMCPY3D* copy) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Copy(stream, wait,
              SideOf(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstXInBytes, copy->dstY,
                     copy->dstZ, copy->dstPitch, copy->dstHeight, copy->WidthInBytes),
              SideOf(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcXInBytes, copy->srcY,
                     copy->srcZ, copy->srcPitch, copy->srcHeight, copy->WidthInBytes),
              {copy->WidthInBytes, copy->Height, copy->Depth});
}

}  // namespace

extern "C" {

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return Copy(CU_STREAM_LEGACY, Wait::kYes, copy); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return Copy(CU_STREAM_LEGACY, Wait::kYes, copy);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return Copy(stream, Wait::kNo, copy);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) { return Copy(CU_STREAM_LEGACY, Wait::kYes, copy); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return Copy(stream, Wait::kNo, copy);
}

CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D* copy) {
  return Copy(CU_STREAM_PER_THREAD, Wait::kYes, copy);
}
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D* copy) {
  return Copy(CU_STREAM_PER_THREAD, Wait::kYes, copy);
}
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return Copy(PerThread(stream), Wait::kNo, copy);
}
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D* copy) {
  return Copy(CU_STREAM_PER_THREAD, Wait::kYes, copy);
}
CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return Copy(PerThread(stream), Wait::kNo, copy);
}

// The host does not wait for fills.
CUresult cuMemsetD2D8_v2(CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height) {
  return cuMemsetD2D8Async(target, pitch, value, width, height, CU_STREAM_LEGACY);
}
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr target, size_t pitch, unsigned char value, size_t width,
                              size_t height) {
  return cuMemsetD2D8Async(target, pitch, value, width, height, CU_STREAM_PER_THREAD);
}

}  // extern "C"
