#include "deviceplugin/signaller/driver.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace crossover::signaller {
namespace {

// The GPU of a driver that notes whether it made a context.
struct Gpu {
  int compute_mode = CU_COMPUTEMODE_DEFAULT;
  bool has_context = false;
};
Gpu gpu;

CUresult Init(unsigned int) { return CUDA_SUCCESS; }
CUresult GetErrorName(CUresult, const char** name) {
  *name = "CUDA_ERROR";
  return CUDA_SUCCESS;
}
CUresult DeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult DeviceGet(CUdevice* device, int) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult DeviceGetUuid(CUuuid* uuid, CUdevice) {
  *uuid = {};
  return CUDA_SUCCESS;
}
CUresult DeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  EXPECT_EQ(attribute, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  *value = gpu.compute_mode;
  return CUDA_SUCCESS;
}
CUresult DevicePrimaryCtxRetain(CUcontext*, CUdevice) {
  gpu.has_context = true;
  return CUDA_SUCCESS;
}
CUresult CtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }

class OpenGpuTest : public ::testing::Test {
 protected:
  OpenGpuTest() {
    gpu = {};
    std::filesystem::create_directories(no_mps_);
    driver_.Init = Init;
    driver_.GetErrorName = GetErrorName;
    driver_.DeviceGetCount = DeviceGetCount;
    driver_.DeviceGet = DeviceGet;
    driver_.DeviceGetUuid = DeviceGetUuid;
    driver_.DeviceGetAttribute = DeviceGetAttribute;
    driver_.DevicePrimaryCtxRetain = DevicePrimaryCtxRetain;
    driver_.CtxSetCurrent = CtxSetCurrent;
  }
  ~OpenGpuTest() override { std::filesystem::remove_all(no_mps_); }

  bool Open() {
    return OpenGpu(driver_, no_mps_, "GPU-00000000-0000-0000-0000-000000000000", &device_, &error_);
  }

  const std::string no_mps_ = ::testing::TempDir() + "no-mps-of-driver-test";
  Driver driver_;
  CUdevice device_ = -1;
  std::string error_;
};

TEST_F(OpenGpuTest, ASharedGpuGetsAContext) {
  EXPECT_TRUE(Open()) << error_;
  EXPECT_TRUE(gpu.has_context);
}

TEST_F(OpenGpuTest, AGpuForOneProcessIsLeftToMps) {
  gpu.compute_mode = CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  EXPECT_FALSE(Open());
  EXPECT_FALSE(gpu.has_context) << "the server of MPS would get none";
  EXPECT_EQ(error_,
            "compute mode: expected DEFAULT, got EXCLUSIVE_PROCESS; in other modes a signaller may not use "
            "the GPU, or would keep MPS off it");
}

TEST_F(OpenGpuTest, AModeThatIsNotKnownIsNamed) {
  gpu.compute_mode = 7;
  EXPECT_FALSE(Open());
  EXPECT_NE(error_.find("got 7"), std::string::npos) << error_;
}

}  // namespace
}  // namespace crossover::signaller
