#include "deviceplugin/plugin/cdi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

TEST(CdiTest, AnOldContainerdHasNone) {
  EXPECT_EQ(WhyNoCdi("containerd://1.6.20~ds1"),
            "containerd 1.6.20~ds1 gives containers no CDI devices: set node.devices to device-nodes with a "
            "driver_root, or to environment, or upgrade containerd to 2");
  EXPECT_NE(WhyNoCdi("containerd://1.6"), "");
  EXPECT_NE(WhyNoCdi("containerd://0.9.1"), "");
}

TEST(CdiTest, WhatMayHaveThemIsNotJudged) {
  for (const char* runtime :
       {"containerd://1.7.0", "containerd://2.3.7", "containerd://10.0.0", "cri-o://1.25.0", "containerd://",
        "containerd://v1.6", "containerd://1", "containerd://1.x", "", "containerd://99999999999.1"}) {
    EXPECT_EQ(WhyNoCdi(runtime), "") << runtime;
  }
}

}  // namespace
}  // namespace crossover::deviceplugin
