#include "simgpu/runtime/current.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace simgpu::runtime {
namespace {

// The driver below has three devices. A context is the address of its device's entry.
constexpr int kDevices = 3;
std::array<char, kDevices> primaries;
std::array<int, kDevices> retained;
std::array<int, kDevices> resets;
thread_local CUcontext current = nullptr;

CUcontext ContextOf(int device) {
  return reinterpret_cast<CUcontext>(&primaries[static_cast<std::size_t>(device)]);
}

CUresult GetCount(int* count) {
  *count = kDevices;
  return CUDA_SUCCESS;
}
CUresult Retain(CUcontext* context, CUdevice device) {
  ++retained[static_cast<std::size_t>(device)];
  *context = ContextOf(device);
  return CUDA_SUCCESS;
}
CUresult Reset(CUdevice device) {
  ++resets[static_cast<std::size_t>(device)];
  return CUDA_SUCCESS;
}
CUresult SetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult GetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
CUresult GetDeviceOfContext(CUdevice* device) {
  *device = static_cast<int>(reinterpret_cast<char*>(current) - primaries.data());
  return CUDA_SUCCESS;
}

// Each test runs in threads of its own: a thread keeps its device.
class CurrentDevice : public testing::Test {
 protected:
  CurrentDevice() {
    driver_.cuDeviceGetCount.Set("cuDeviceGetCount", reinterpret_cast<void*>(&GetCount));
    driver_.cuDevicePrimaryCtxRetain.Set("cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(&Retain));
    driver_.cuDevicePrimaryCtxReset.Set("cuDevicePrimaryCtxReset", reinterpret_cast<void*>(&Reset));
    driver_.cuCtxSetCurrent.Set("cuCtxSetCurrent", reinterpret_cast<void*>(&SetCurrent));
    driver_.cuCtxGetCurrent.Set("cuCtxGetCurrent", reinterpret_cast<void*>(&GetCurrent));
    driver_.cuCtxGetDevice.Set("cuCtxGetDevice", reinterpret_cast<void*>(&GetDeviceOfContext));
  }

  int Device() const {
    int device = -1;
    EXPECT_EQ(GetDevice(driver_, &device), cudaSuccess);
    return device;
  }

  Driver driver_;
};

TEST_F(CurrentDevice, IsTheFirstWithoutAContext) {
  std::thread([this] {
    EXPECT_EQ(Device(), 0);
    EXPECT_EQ(current, nullptr);
  }).join();
}

TEST_F(CurrentDevice, BelongsToAThread) {
  std::thread([this] {
    EXPECT_EQ(SetDevice(driver_, 1), cudaSuccess);
    std::thread([this] {
      EXPECT_EQ(Device(), 0);
      EXPECT_EQ(SetDevice(driver_, 2), cudaSuccess);
      EXPECT_EQ(Device(), 2);
    }).join();
    EXPECT_EQ(Device(), 1);
    EXPECT_EQ(current, ContextOf(1));
  }).join();
}

TEST_F(CurrentDevice, IsThatOfTheContextThatTheProgramSet) {
  std::thread([this] {
    EXPECT_EQ(SetDevice(driver_, 1), cudaSuccess);
    SetCurrent(ContextOf(2));
    EXPECT_EQ(Device(), 2);
    SetCurrent(nullptr);
    EXPECT_EQ(Device(), 1);
  }).join();
}

TEST_F(CurrentDevice, RetainsAPrimaryContextOnce) {
  std::thread([this] {
    retained = {};
    EXPECT_EQ(ResetDevice(driver_), cudaSuccess);  // of device 0
    for (int i = 0; i < 3; ++i) EXPECT_EQ(SetDevice(driver_, 0), cudaSuccess);
    std::thread([this] { EXPECT_EQ(SetDevice(driver_, 0), cudaSuccess); }).join();
    EXPECT_EQ(retained[0], 1);
  }).join();
}

TEST_F(CurrentDevice, GetsANewContextAfterAReset) {
  std::thread([this] {
    EXPECT_EQ(SetDevice(driver_, 2), cudaSuccess);
    retained = resets = {};
    EXPECT_EQ(ResetDevice(driver_), cudaSuccess);
    EXPECT_EQ(resets[2], 1);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(SetDevice(driver_, 2), cudaSuccess);
    EXPECT_EQ(retained[2], 1);
  }).join();
}

TEST_F(CurrentDevice, IsOneThatExists) {
  for (const int device : {-1, kDevices, 1000}) EXPECT_EQ(SetDevice(driver_, device), cudaErrorInvalidDevice);
  EXPECT_EQ(GetDevice(driver_, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace simgpu::runtime
