#include "deviceplugin/nvml/numa.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace crossover::deviceplugin {
namespace {

TEST(NumaTest, ThePciNameIsThatOfSysfs) {
  EXPECT_EQ(PciName(0, 0x3b, 0), "0000:3b:00.0");
  EXPECT_EQ(PciName(0x10000, 0xff, 0x1f), "10000:ff:1f.0");
}

TEST(NumaTest, TheNodeIsWhatSysfsSays) {
  char name[] = "/tmp/crossover-sysfs-XXXXXX";
  const std::string root = mkdtemp(name);
  const std::string device = root + "/bus/pci/devices/0000:3b:00.0";
  std::filesystem::create_directories(device);
  EXPECT_EQ(NumaNodeOf("0000:3b:00.0", root), std::nullopt) << "there is no such file";
  const auto read = [&](const std::string& text) {
    std::ofstream(device + "/numa_node") << text;
    return NumaNodeOf("0000:3b:00.0", root);
  };
  EXPECT_EQ(read("1\n"), 1);
  EXPECT_EQ(read("0\n"), 0);
  EXPECT_EQ(read("-1\n"), std::nullopt) << "the host has one";
  for (const char* odd : {"", "\n", "one\n", "4096\n", "1 2\n"}) EXPECT_EQ(read(odd), std::nullopt) << odd;
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace crossover::deviceplugin
