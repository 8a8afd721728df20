#include "deviceplugin/inventory/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;

TEST(AdvertiseTest, EveryGpuButThoseThatAreSplit) {
  std::vector<std::string> left_out;
  const DeviceList::Gpus gpus = Advertise({{.uuid = "GPU-a",
                                            .name = "x",
                                            .minor = 3,
                                            .memory_bytes = 1,
                                            .mig = false,
                                            .numa = 1,
                                            .wants_reset = {}},
                                           {.uuid = "GPU-b",
                                            .name = "x",
                                            .minor = 4,
                                            .memory_bytes = 1,
                                            .mig = true,
                                            .numa = {},
                                            .wants_reset = {}},
                                           {.uuid = "GPU-c",
                                            .name = "x",
                                            .minor = 5,
                                            .memory_bytes = {},
                                            .mig = false,
                                            .numa = {},
                                            .wants_reset = {}}},
                                          5, &left_out);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus.at("GPU-c").slots, 1u) << "its memory is not known";
  EXPECT_EQ(gpus.at("GPU-a").slots, 5u);
  EXPECT_TRUE(gpus.at("GPU-a").healthy);
  EXPECT_EQ(gpus.at("GPU-a").numa, 1);
  EXPECT_EQ(gpus.at("GPU-c").numa, std::nullopt);
  EXPECT_THAT(gpus.at("GPU-a").gpu.device_files,
              ElementsAre("/dev/nvidia3", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"));
  EXPECT_THAT(left_out, ElementsAre("GPU-b"));
}

}  // namespace
}  // namespace crossover::deviceplugin
