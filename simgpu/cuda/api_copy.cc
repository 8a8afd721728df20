// Implements copies and fills. They take no time on the GPU beyond what the host needs for them.
#include <atomic>
#include <cstring>

#include "simgpu/copies/slice.h"
#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/memory.h"
#include "simgpu/kernels/pages.h"
#include "simgpu/machine/machine.h"

using namespace simgpu;

namespace {

// A store of at most this size may be a flag that a thread polls. It is made at its time, and it wakes
// sleepers.
constexpr std::size_t kFlagBytes = 64;
// A pageable source up to this size is staged, so an asynchronous call does not wait for the copy.
constexpr std::size_t kStagedBytes = 64 << 10;

enum class Place { kHost, kDevice, kEither };

// Returns work that stores to `target`. A small store waits for its time and wakes the threads that sleep on
// its words.
WorkPtr MakeStore(std::size_t bytes, void* target, std::function<void()> store) {
  if (bytes > kFlagBytes) return InASlice(MakeQuietWork(std::move(store)));
  return InASlice(MakeHostWork([=] {
    store();
    const auto begin = reinterpret_cast<std::uintptr_t>(target) & ~std::uintptr_t{3};
    for (std::uintptr_t word = begin; word < reinterpret_cast<std::uintptr_t>(target) + bytes; word += 4) {
      WakeWord(reinterpret_cast<const void*>(word));
    }
  }));
}

// Returns whether a copy takes its place in the stream, but moves nothing.
bool IsHollow(std::size_t bytes) { return bytes >= Machine::Get()->config().hollow_copies_from; }

WorkPtr MakeCopy(void* target, const void* source, std::size_t bytes) {
  if (IsHollow(bytes)) return InASlice(MakeQuietWork([] {}));
  return MakeStore(bytes, target, [=] { std::memmove(target, source, bytes); });
}

bool IsPageable(const void* pointer) { return !FindAllocation(reinterpret_cast<std::uintptr_t>(pointer)); }

// Returns whether a copy may use the pointer. A pointer to device memory must point into an allocation of
// this library: the memory is on the host, so a stray pointer would damage the process. Every other pointer
// may be used.
bool Known(Place place, const void* pointer) { return place != Place::kDevice || !IsPageable(pointer); }

// Takes the contexts of the process away at the copy that a fault names.
void MeetFault() {
  static std::atomic<long> copies{0};
  if (Faults().broken_copy >= 0 && copies.fetch_add(1) == Faults().broken_copy)
    Lose(CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Queues a copy. Waits for its end if `wait` is set. Unless the stream captures, it also waits if the source
// is pageable and not staged, and if the target alone is pageable. Returns the first error.
CUresult Copy(CUstream handle, bool wait, void* target, Place target_place, const void* source,
              Place source_place, std::size_t bytes) {
  StreamPtr stream;
  if (wait) MeetFault();
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  if (bytes == 0) return CUDA_SUCCESS;
  if (!Known(target_place, target) || !Known(source_place, source)) return CUDA_ERROR_INVALID_VALUE;
  if (wait) {
    if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
    return SubmitAndWait(stream, MakeCopy(target, source, bytes));
  }
  const bool capturing = IsCapturing(*stream);
  if (!capturing && IsPageable(source) && bytes <= kStagedBytes && !IsHollow(bytes)) {
    const auto* begin = static_cast<const unsigned char*>(source);
    auto staged = std::make_shared<std::vector<unsigned char>>(begin, begin + bytes);
    return Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY,
                  MakeStore(bytes, target, [=] { std::memcpy(target, staged->data(), bytes); }));
  }
  if (!capturing && (IsPageable(source) || IsPageable(target))) {
    return SubmitAndWait(stream, MakeCopy(target, source, bytes));
  }
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, MakeCopy(target, source, bytes));
}

void* At(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

template <typename T>
CUresult Fill(CUstream handle, CUdeviceptr target, std::size_t pitch, T value, std::size_t width,
              std::size_t height) {
  StreamPtr stream;
  if (const CUresult error = FindStream(handle, &stream); error != CUDA_SUCCESS) return error;
  if (target % sizeof(T) != 0 || IsPageable(At(target))) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t bytes = height == 0 ? 0 : pitch * (height - 1) + width * sizeof(T);
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMSET, MakeStore(bytes, At(target), [=] {
                  if (value == 0 && height == 1 && bytes >= kLeastPages) return WriteZeros(At(target), bytes);
                  for (std::size_t row = 0; row < height; ++row) {
                    auto* begin = reinterpret_cast<T*>(target + row * pitch);
                    for (std::size_t i = 0; i < width; ++i)
                      __atomic_store_n(begin + i, value, __ATOMIC_RELEASE);
                  }
                }));
}

}  // namespace

extern "C" {

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes, CUstream stream) {
  return Copy(stream, false, At(target), Place::kDevice, source, Place::kHost, bytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return Copy(stream, false, target, Place::kHost, At(source), Place::kDevice, bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return Copy(stream, false, At(target), Place::kDevice, At(source), Place::kDevice, bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return Copy(stream, false, At(target), Place::kEither, At(source), Place::kEither, bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, size_t bytes,
                           CUstream stream) {
  return cuMemcpyDtoDAsync_v2(target, source, bytes, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t bytes) {
  return Copy(CU_STREAM_LEGACY, true, At(target), Place::kDevice, source, Place::kHost, bytes);
}
CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t bytes) {
  return Copy(CU_STREAM_LEGACY, true, target, Place::kHost, At(source), Place::kDevice, bytes);
}
// The host does not wait for copies between devices.
CUresult cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return cuMemcpyDtoDAsync_v2(target, source, bytes, CU_STREAM_LEGACY);
}
CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return Copy(CU_STREAM_LEGACY, true, At(target), Place::kEither, At(source), Place::kEither, bytes);
}
CUresult cuMemcpyPeer(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, size_t bytes) {
  return cuMemcpyDtoD_v2(target, source, bytes);
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return Fill(stream, target, 0, value, count, 1);
}
CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  return Fill(stream, target, 0, value, count, 1);
}
CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return Fill(stream, target, 0, value, count, 1);
}
CUresult cuMemsetD2D8Async(CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return Fill(stream, target, pitch, value, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return Fill(stream, target, pitch, value, width, height);
}
// The host does not wait for fills either. They are ordered as all work on the legacy stream.
CUresult cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t count) {
  return cuMemsetD8Async(target, value, count, CU_STREAM_LEGACY);
}
CUresult cuMemsetD16_v2(CUdeviceptr target, unsigned short value, size_t count) {
  return cuMemsetD16Async(target, value, count, CU_STREAM_LEGACY);
}
CUresult cuMemsetD32_v2(CUdeviceptr target, unsigned value, size_t count) {
  return cuMemsetD32Async(target, value, count, CU_STREAM_LEGACY);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr target, const void* source, size_t bytes, CUstream stream) {
  return cuMemcpyHtoDAsync_v2(target, source, bytes, PerThread(stream));
}
CUresult cuMemcpyDtoHAsync_v2_ptsz(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return cuMemcpyDtoHAsync_v2(target, source, bytes, PerThread(stream));
}
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync_v2(target, source, bytes, PerThread(stream));
}
CUresult cuMemcpyAsync_ptsz(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return cuMemcpyAsync(target, source, bytes, PerThread(stream));
}
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
                                size_t bytes, CUstream stream) {
  return cuMemcpyPeerAsync(target, to, source, from, bytes, PerThread(stream));
}
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr target, const void* source, size_t bytes) {
  return Copy(CU_STREAM_PER_THREAD, true, At(target), Place::kDevice, source, Place::kHost, bytes);
}
CUresult cuMemcpyDtoH_v2_ptds(void* target, CUdeviceptr source, size_t bytes) {
  return Copy(CU_STREAM_PER_THREAD, true, target, Place::kHost, At(source), Place::kDevice, bytes);
}
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return cuMemcpyDtoDAsync_v2(target, source, bytes, CU_STREAM_PER_THREAD);
}
CUresult cuMemcpy_ptds(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return Copy(CU_STREAM_PER_THREAD, true, At(target), Place::kEither, At(source), Place::kEither, bytes);
}
CUresult cuMemcpyPeer_ptds(CUdeviceptr target, CUcontext, CUdeviceptr source, CUcontext, size_t bytes) {
  return cuMemcpyDtoD_v2_ptds(target, source, bytes);
}
CUresult cuMemsetD8Async_ptsz(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return cuMemsetD8Async(target, value, count, PerThread(stream));
}
CUresult cuMemsetD16Async_ptsz(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  return cuMemsetD16Async(target, value, count, PerThread(stream));
}
CUresult cuMemsetD32Async_ptsz(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return cuMemsetD32Async(target, value, count, PerThread(stream));
}
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr target, size_t pitch, unsigned char value, size_t width,
                                size_t height, CUstream stream) {
  return cuMemsetD2D8Async(target, pitch, value, width, height, PerThread(stream));
}
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr target, size_t pitch, unsigned value, size_t width,
                                 size_t height, CUstream stream) {
  return cuMemsetD2D32Async(target, pitch, value, width, height, PerThread(stream));
}
CUresult cuMemsetD8_v2_ptds(CUdeviceptr target, unsigned char value, size_t count) {
  return cuMemsetD8Async(target, value, count, CU_STREAM_PER_THREAD);
}
CUresult cuMemsetD16_v2_ptds(CUdeviceptr target, unsigned short value, size_t count) {
  return cuMemsetD16Async(target, value, count, CU_STREAM_PER_THREAD);
}
CUresult cuMemsetD32_v2_ptds(CUdeviceptr target, unsigned value, size_t count) {
  return cuMemsetD32Async(target, value, count, CU_STREAM_PER_THREAD);
}

}  // extern "C"
