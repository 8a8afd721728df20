#include "deviceplugin/inventory/node_link.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

class NodeLinkTest : public testing::Test {
 protected:
  ~NodeLinkTest() override { fs::remove_all(sysfs_); }

  // Writes what the kernel shows of a port, with its line ends.
  void AddPort(const std::string& device, const std::string& port, const std::string& state,
               const std::string& rate) {
    const fs::path folder = sysfs_ / "class/infiniband" / device / "ports" / port;
    fs::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
    std::ofstream(folder / "rate") << rate << "\n";
  }

  const fs::path sysfs_ = fs::path(testing::TempDir()) / ("node_link_test-" + std::to_string(getpid()));
};

TEST_F(NodeLinkTest, IsTheSumOfTheActivePorts) {
  AddPort("mlx5_0", "1", "4: ACTIVE", "200 Gb/sec (4X HDR)");
  AddPort("mlx5_0", "2", "1: DOWN", "200 Gb/sec (4X HDR)");
  AddPort("mlx5_1", "1", "4: ACTIVE", "2.5 Gb/sec (1X SDR)");
  AddPort("mlx5_2", "1", "4: ACTIVE", "fast");
  AddPort("mlx5_3", "1", "4: ACTIVE", "-100 Gb/sec (4X EDR)");
  fs::create_directories(sysfs_ / "class/infiniband/mlx5_4");
  EXPECT_EQ(PortBytesPerSecond(sysfs_), 202'500'000'000 / 8);
}

TEST_F(NodeLinkTest, IsNotKnownWithoutPorts) {
  EXPECT_EQ(PortBytesPerSecond(sysfs_), 0u);
  fs::create_directories(sysfs_ / "class/infiniband");
  EXPECT_EQ(PortBytesPerSecond(sysfs_), 0u);
}

TEST_F(NodeLinkTest, WhatIsSaidCountsAndPortsAreLookedAtOnceAMinute) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  NodeLink link(sysfs_);
  EXPECT_EQ(link.BytesPerSecond(0, 5 * kSecond), 0u);
  AddPort("mlx5_0", "1", "4: ACTIVE", "400 Gb/sec (4X NDR)");
  EXPECT_EQ(link.BytesPerSecond(0, 64 * kSecond), 0u);
  EXPECT_EQ(link.BytesPerSecond(0, 65 * kSecond), 50'000'000'000u);
  EXPECT_EQ(link.BytesPerSecond(100, 66 * kSecond), 12'500'000'000u);
}

}  // namespace
}  // namespace crossover::deviceplugin
