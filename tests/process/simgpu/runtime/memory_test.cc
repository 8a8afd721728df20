// Tests memory of devices and of the host, copies, fills and pools.
#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/process/simgpu/runtime/program.h"

namespace simgpu::runtime_test {
namespace {

constexpr size_t kBytes = 1 << 20;

class Memory : public Program {
 protected:
  Memory() : data_(kBytes), back_(kBytes) {
    std::iota(data_.begin(), data_.end(), static_cast<unsigned char>(0));
    for (void** memory : {&first_, &second_}) EXPECT_EQ(cudaMalloc(memory, kBytes), cudaSuccess);
  }
  ~Memory() override {
    for (void* memory : {first_, second_}) EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }

  std::vector<unsigned char> data_, back_;
  void* first_ = nullptr;
  void* second_ = nullptr;
};

TEST_F(Memory, IsCopiedByEachCall) {
  using Copy = cudaError_t (*)(void*, const void*, size_t, cudaMemcpyKind);
  const Copy copies[] = {
      cudaMemcpy,
      cudaMemcpy_ptds,
      [](void* to, const void* from, size_t bytes, cudaMemcpyKind) {
        return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
      },
      [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
        const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
        return error != cudaSuccess ? error : cudaStreamSynchronize(nullptr);
      },
      [](void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
        const cudaError_t error = cudaMemcpyAsync_ptsz(to, from, bytes, kind, nullptr);
        return error != cudaSuccess ? error : cudaStreamSynchronize_ptsz(nullptr);
      },
  };
  for (const Copy copy : copies) {
    back_.assign(kBytes, 0xff);
    OK(cudaMemset(first_, 0, kBytes));
    OK(cudaMemset(second_, 0, kBytes));
    OK(cudaDeviceSynchronize());
    OK(copy(first_, data_.data(), kBytes, cudaMemcpyHostToDevice));
    OK(copy(second_, first_, kBytes, cudaMemcpyDeviceToDevice));
    OK(cudaDeviceSynchronize());
    OK(copy(back_.data(), second_, kBytes, cudaMemcpyDeviceToHost));
    EXPECT_EQ(back_, data_);
  }
}

TEST_F(Memory, IsNotCopiedInAnUnknownDirectionOrFromAnUnknownPlace) {
  const auto direction = static_cast<cudaMemcpyKind>(7);
  EXPECT_EQ(cudaMemcpy(first_, data_.data(), 4, direction), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyAsync(first_, data_.data(), 4, direction, nullptr), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(data_.data(), back_.data(), 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
}

TEST_F(Memory, IsFilled) {
  OK(cudaMemset(first_, 0x11, kBytes));
  OK(cudaMemsetAsync(first_, 0x22, kBytes / 2, nullptr));
  OK(cudaMemcpy(back_.data(), first_, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back_[0], 0x22);
  EXPECT_EQ(back_[kBytes / 2 - 1], 0x22);
  EXPECT_EQ(back_[kBytes / 2], 0x11);
  OK(cudaMemset2DAsync(first_, 1024, 0x33, 10, 3, nullptr));
  OK(cudaMemcpy(back_.data(), first_, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back_[2 * 1024 + 9], 0x33);
  EXPECT_EQ(back_[2 * 1024 + 10], 0x22);
  EXPECT_EQ(back_[3 * 1024], 0x22);
}

TEST_F(Memory, IsAllocatedFromPoolsInTheOrderOfAStream) {
  cudaMemPool_t pool = nullptr;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  void *plain = nullptr, *pooled = nullptr;
  OK(cudaMallocAsync(&plain, kBytes, nullptr));
  OK(cudaMallocFromPoolAsync_ptsz(&pooled, kBytes, pool, nullptr));
  OK(cudaMemsetAsync(plain, 7, kBytes, nullptr));
  OK(cudaMemcpyAsync(back_.data(), plain, kBytes, cudaMemcpyDeviceToHost, nullptr));
  OK(cudaFreeAsync(plain, nullptr));
  OK(cudaFreeAsync_ptsz(pooled, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_THAT(back_, testing::Each(7));
  EXPECT_EQ(cudaFreeAsync(plain, nullptr), cudaErrorInvalidValue);
  int reuse = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &reuse));
  cuuint64_t threshold = 0;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  OK(cudaMemPoolTrimTo(pool, 0));
}

TEST_F(Memory, KnowsWhatAPointerIs) {
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, static_cast<char*>(first_) + 100));
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  EXPECT_EQ(attributes.devicePointer, static_cast<char*>(first_) + 100);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  OK(cudaPointerGetAttributes(&attributes, word_));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, word_);
  OK(cudaPointerGetAttributes(&attributes, data_.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.device, cudaInvalidDeviceId);
  OK(cudaHostRegister(data_.data(), kBytes, cudaHostRegisterPortable));
  OK(cudaPointerGetAttributes(&attributes, data_.data()));
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  void* on_device = nullptr;
  OK(cudaHostGetDevicePointer(&on_device, data_.data(), 0));
  EXPECT_EQ(on_device, data_.data());
  OK(cudaHostUnregister(data_.data()));
  EXPECT_EQ(cudaHostUnregister(data_.data()), cudaErrorHostMemoryNotRegistered);
  void* managed = nullptr;
  OK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
  OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  OK(cudaFree(managed));
}

TEST_F(Memory, OfNoBytesIsNull) {
  void* memory = this;
  OK(cudaMalloc(&memory, 0));
  EXPECT_EQ(memory, nullptr);
  OK(cudaFree(nullptr));
  OK(cudaFreeHost(nullptr));
  EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(data_.data()), cudaErrorInvalidValue);
}

TEST_F(Memory, RunsOutWhichDoesNotStick) {
  size_t free_bytes = 0, total = 0;
  OK(cudaMemGetInfo(&free_bytes, &total));
  EXPECT_LE(free_bytes, total);
  void* memory = this;
  EXPECT_EQ(cudaMalloc(&memory, total + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_STREQ(cudaGetErrorString(cudaGetLastError()), "out of memory");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  OK(cudaMalloc(&memory, 1024));
  size_t less = 0;
  OK(cudaMemGetInfo(&less, &total));
  EXPECT_LT(less, free_bytes);
  OK(cudaFree(memory));
}

TEST_F(Memory, OfVariablesIsUnknownWithoutARegistration) {
  void* address = nullptr;
  size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolAddress(&address, this), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, this), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(this, data_.data(), 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(this, data_.data(), 4, 0, cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
}

// A rectangle of 3 rows of 10 bytes goes to a device with rows of 64 bytes, on, and back.
TEST_F(Memory, IsCopiedInRectangles) {
  constexpr size_t kWidth = 10, kRows = 3, kHostPitch = 16, kPitch = 64;
  for (const bool per_thread : {false, true}) {
    const auto copy = per_thread ? cudaMemcpy2D_ptds : cudaMemcpy2D;
    const auto copy_async = per_thread ? cudaMemcpy2DAsync_ptsz : cudaMemcpy2DAsync;
    back_.assign(kBytes, 0xff);
    OK(cudaMemset(first_, 0, kBytes));
    OK(cudaMemset2D(second_, kPitch, 0, kWidth, kRows));
    OK(copy(first_, kPitch, data_.data(), kHostPitch, kWidth, kRows, cudaMemcpyHostToDevice));
    OK(copy_async(second_, kPitch, first_, kPitch, kWidth, kRows, cudaMemcpyDeviceToDevice, nullptr));
    OK(copy_async(back_.data(), kHostPitch, second_, kPitch, kWidth, kRows, cudaMemcpyDefault, nullptr));
    OK(cudaDeviceSynchronize());
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t x = 0; x < kHostPitch; ++x) {
        const size_t at = row * kHostPitch + x;
        EXPECT_EQ(back_[at], x < kWidth ? data_[at] : 0xff) << row << " " << x;
      }
    }
  }
}

TEST_F(Memory, IsCopiedInBoxes) {
  cudaMemcpy3DParms box{};
  box.srcPtr = cudaPitchedPtr{data_.data(), 32, 32, 4};
  box.srcPos = cudaPos{2, 1, 1};
  box.dstPtr = cudaPitchedPtr{first_, 64, 64, 8};
  box.dstPos = cudaPos{4, 2, 0};
  box.extent = cudaExtent{6, 2, 2};
  box.kind = cudaMemcpyHostToDevice;
  OK(cudaMemset(first_, 0, kBytes));
  OK(cudaMemcpy3D(&box));
  OK(cudaMemcpy(back_.data(), first_, kBytes, cudaMemcpyDeviceToHost));
  for (size_t z = 0; z < 2; ++z) {
    for (size_t y = 0; y < 2; ++y) {
      for (size_t x = 0; x < 6; ++x) {
        EXPECT_EQ(back_[z * 64 * 8 + (y + 2) * 64 + x + 4], data_[(z + 1) * 32 * 4 + (y + 1) * 32 + x + 2]);
      }
    }
  }
  OK(cudaMemset3DAsync(cudaPitchedPtr{first_, 64, 64, 8}, 9, cudaExtent{5, 2, 2}, nullptr));
  OK(cudaMemcpy(back_.data(), first_, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back_[64 * 8 + 64 + 4], 9);
  EXPECT_NE(back_[64 * 8 + 64 + 5], 9);
}

TEST_F(Memory, IsNotCopiedInShapesBeyondItsEnd) {
  EXPECT_EQ(cudaMemcpy2D(first_, 1024, data_.data(), 1024, 1024, kBytes / 1024 + 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  OK(cudaMemcpy2D(first_, 1024, data_.data(), 1024, 1024, kBytes / 1024, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(back_.data(), first_, kBytes, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back_, data_);
}

TEST_F(Memory, IsNotCopiedInShapesThatDoNotFit) {
  EXPECT_EQ(cudaMemcpy2D(first_, 8, data_.data(), 16, 9, 1, cudaMemcpyHostToDevice),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2DAsync(first_, 16, data_.data(), 8, 9, 1, cudaMemcpyHostToDevice, nullptr),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  cudaMemcpy3DParms box{};
  box.srcArray = reinterpret_cast<cudaArray_t>(this);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaMemcpy3D(&box), cudaErrorNotSupported);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("refused cudaMemcpy3D with an array"));
}

}  // namespace
}  // namespace simgpu::runtime_test
