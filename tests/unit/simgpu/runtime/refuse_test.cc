#include "simgpu/runtime/refuse.h"

#include <gtest/gtest.h>

#include <string>

#include "simgpu/runtime/driver.h"

namespace simgpu::runtime {
namespace {

TEST(Refuse, SaysANameOnce) {
  testing::internal::CaptureStderr();
  Refuse("cudaSomething", "this library does not have it");
  Refuse("cudaSomething", "this library does not have it");
  Refuse("cudaOther", "the driver does not have it");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.find("refused cudaSomething: this library does not have it\n") != std::string::npos)
      << said;
  EXPECT_TRUE(said.find("refused cudaOther: the driver does not have it\n") != std::string::npos) << said;
  EXPECT_EQ(said.find("cudaSomething"), said.rfind("cudaSomething")) << said;
}

CUresult Answer(unsigned flags) { return flags == 7 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS; }

TEST(DriverFunction, CallsTheDriver) {
  DriverFunction<CUresult (*)(unsigned)> function;
  function.Set("cuAnswer", reinterpret_cast<void*>(&Answer));
  EXPECT_EQ(function(7), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(function(8), CUDA_SUCCESS);
}

TEST(DriverFunction, RefusesByNameWhatTheDriverLacks) {
  DriverFunction<CUresult (*)(unsigned)> function;
  function.Set("cuMissing", nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(function(7), CUDA_ERROR_NOT_SUPPORTED);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(said.find("refused cuMissing: the driver does not have it\n") != std::string::npos) << said;
}

}  // namespace
}  // namespace simgpu::runtime
