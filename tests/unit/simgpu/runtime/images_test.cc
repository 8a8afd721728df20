#include "simgpu/runtime/images.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace simgpu::runtime {
namespace {

// The driver below knows one kernel, "known", and one variable, "value". It counts what it is asked.
struct Asked {
  int loads = 0;
  int unloads = 0;
  int kernels = 0;
  CUresult load_result = CUDA_SUCCESS;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUstreamCaptureMode mode_of_load = CU_STREAM_CAPTURE_MODE_GLOBAL;
  const void* loaded = nullptr;
} asked;

char library_memory, kernel_memory, value_memory[16];

CUresult LoadData(CUlibrary* library, const void* data, CUjit_option*, void**, unsigned, CUlibraryOption*,
                  void**, unsigned) {
  ++asked.loads;
  asked.mode_of_load = asked.mode;
  asked.loaded = data;
  if (asked.load_result == CUDA_SUCCESS) *library = reinterpret_cast<CUlibrary>(&library_memory);
  return asked.load_result;
}

CUresult Unload(CUlibrary library) {
  EXPECT_EQ(library, reinterpret_cast<CUlibrary>(&library_memory));
  ++asked.unloads;
  return CUDA_SUCCESS;
}

CUresult GetKernel(CUkernel* kernel, CUlibrary, const char* name) {
  ++asked.kernels;
  if (std::strcmp(name, "known") != 0) return CUDA_ERROR_NOT_FOUND;
  *kernel = reinterpret_cast<CUkernel>(&kernel_memory);
  return CUDA_SUCCESS;
}

CUresult GetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary, const char* name) {
  if (std::strcmp(name, "value") != 0) return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<CUdeviceptr>(value_memory);
  *bytes = sizeof value_memory;
  return CUDA_SUCCESS;
}

CUresult ExchangeMode(CUstreamCaptureMode* mode) {
  std::swap(*mode, asked.mode);
  return CUDA_SUCCESS;
}

class Images : public testing::Test {
 protected:
  Images() {
    asked = {};
    driver_.cuLibraryLoadData.Set("cuLibraryLoadData", reinterpret_cast<void*>(&LoadData));
    driver_.cuLibraryUnload.Set("cuLibraryUnload", reinterpret_cast<void*>(&Unload));
    driver_.cuLibraryGetKernel.Set("cuLibraryGetKernel", reinterpret_cast<void*>(&GetKernel));
    driver_.cuLibraryGetGlobal.Set("cuLibraryGetGlobal", reinterpret_cast<void*>(&GetGlobal));
    driver_.cuThreadExchangeStreamCaptureMode.Set("cuThreadExchangeStreamCaptureMode",
                                                  reinterpret_cast<void*>(&ExchangeMode));
    image_ = RegisterImage(data_);
    RegisterKernel(image_, &function_, "known");
    RegisterKernel(image_, &lacking_, "lacking");
    RegisterVariable(image_, &variable_, "value");
    RegisterVariable(image_, &lacking_variable_, "other");
  }
  ~Images() override {
    if (image_ != nullptr) ForgetImage(image_);
  }

  void Forget() {
    ForgetImage(image_);
    image_ = nullptr;
  }

  Driver driver_;
  const char data_[4] = "abc";
  const char function_ = 0, lacking_ = 0, variable_ = 0, lacking_variable_ = 0;
  Image* image_;
  CUkernel kernel_ = nullptr;
};

TEST_F(Images, AreLoadedAtTheFirstUseAndOnce) {
  EXPECT_EQ(asked.loads, 0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(FindKernel(driver_, &function_, &kernel_), cudaSuccess);
    EXPECT_EQ(kernel_, reinterpret_cast<CUkernel>(&kernel_memory));
  }
  EXPECT_EQ(asked.loads, 1);
  EXPECT_EQ(asked.kernels, 1);
  EXPECT_EQ(asked.loaded, data_);
}

TEST_F(Images, AreLoadedInRelaxedModeWhichEndsWithTheLoad) {
  ASSERT_EQ(FindKernel(driver_, &function_, &kernel_), cudaSuccess);
  EXPECT_EQ(asked.mode_of_load, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(asked.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_F(Images, OfAFailedLoadAreLoadedAgain) {
  asked.load_result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  EXPECT_EQ(FindKernel(driver_, &function_, &kernel_), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(asked.mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  asked.load_result = CUDA_SUCCESS;
  EXPECT_EQ(FindKernel(driver_, &function_, &kernel_), cudaSuccess);
  EXPECT_EQ(asked.loads, 2);
}

TEST_F(Images, LackAKernel) {
  EXPECT_EQ(FindKernel(driver_, &lacking_, &kernel_), cudaErrorInvalidDeviceFunction);
}

TEST_F(Images, GiveHandlesThatStandForTheirKernels) {
  ASSERT_EQ(FindKernel(driver_, &function_, &kernel_), cudaSuccess);
  CUkernel again = nullptr;
  EXPECT_EQ(FindKernel(driver_, kernel_, &again), cudaSuccess);
  EXPECT_EQ(again, kernel_);
}

TEST_F(Images, DoNotKnowOtherPointers) {
  EXPECT_EQ(FindKernel(driver_, this, &kernel_), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(FindKernel(driver_, nullptr, &kernel_), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(asked.loads, 0);
}

TEST_F(Images, HaveVariables) {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(FindVariable(driver_, &variable_, &address, &bytes), cudaSuccess);
  EXPECT_EQ(address, reinterpret_cast<CUdeviceptr>(value_memory));
  EXPECT_EQ(bytes, sizeof value_memory);
  EXPECT_EQ(FindVariable(driver_, &lacking_variable_, &address, &bytes), cudaErrorInvalidSymbol);
  EXPECT_EQ(FindVariable(driver_, &function_, &address, &bytes), cudaErrorInvalidSymbol);
}

TEST_F(Images, AreForgottenWithAllThatIsTheirs) {
  ASSERT_EQ(FindKernel(driver_, &function_, &kernel_), cudaSuccess);
  Forget();
  EXPECT_EQ(asked.unloads, 1);
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(FindKernel(driver_, kernel_, &kernel_), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(FindKernel(driver_, &function_, &kernel_), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(FindVariable(driver_, &variable_, &address, &bytes), cudaErrorInvalidSymbol);
}

TEST_F(Images, ThatWereNeverLoadedAreNotUnloaded) {
  Forget();
  EXPECT_EQ(asked.unloads, 0);
}

TEST_F(Images, AreLoadedOnceByManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      CUdeviceptr address = 0;
      std::size_t bytes = 0;
      EXPECT_EQ(FindVariable(driver_, &variable_, &address, &bytes), cudaSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(asked.loads, 1);
}

}  // namespace
}  // namespace simgpu::runtime
