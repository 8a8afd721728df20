// Tests what the stand-ins for NVIDIA's math libraries share, over the driver. The machine is that of
// runtime/program.cc.
#include <cuda.h>
#include <gtest/gtest.h>

#include <thread>

#include "simgpu/math/launch.h"

namespace simgpu::math {
namespace {

TEST(MathLaunch, GivesAThreadWithoutAContextTheSmsOfItsDevice) {
  ASSERT_TRUE(UseContext());
  int expected = 0;
  ASSERT_EQ(cuDeviceGetAttribute(&expected, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
  ASSERT_GT(expected, 1);
  EXPECT_EQ(SmsHere(), expected);
  std::thread([expected] { EXPECT_EQ(SmsHere(), expected); }).join();
}

}  // namespace
}  // namespace simgpu::math
