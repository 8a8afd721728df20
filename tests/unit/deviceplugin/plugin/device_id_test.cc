#include "deviceplugin/plugin/device_id.h"

#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

constexpr char kGpu[] = "GPU-00000000-0000-0000-0001-00000000000a";

TEST(DeviceIdTest, ThereAndBack) {
  const DeviceId id{kGpu, 7};
  EXPECT_EQ(Text(id), std::string(kGpu) + "::7");
  EXPECT_EQ(ParseDeviceId(Text(id)), id);
  EXPECT_LE(Text({kGpu, kMostSlotsPerGpu - 1}).size(), 63u) << "what a kubelet takes";
}

TEST(DeviceIdTest, NothingElseIsOne) {
  const std::string gpu = kGpu;
  for (const std::string& text :
       {std::string(), gpu, gpu + "::", gpu + ":1", gpu + "::01", gpu + "::-1", gpu + "::1 ", gpu + "::100",
        gpu + "::1::1", std::string("::1"), std::string("GPU-1::1"), "MIG-" + gpu.substr(4) + "::1",
        gpu + "::4294967296"}) {
    EXPECT_EQ(ParseDeviceId(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace crossover::deviceplugin
