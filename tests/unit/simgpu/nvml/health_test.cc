#include "simgpu/nvml/health.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace simgpu {
namespace {

TEST(HealthTest, ReadsLines) {
  std::string error;
  const auto event = ParseHealthLine("GPU-1 xid 79", &error);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->uuid, "GPU-1");
  EXPECT_EQ(event->xid, 79u);
  EXPECT_FALSE(ParseHealthLine("# a comment", &error));
  EXPECT_EQ(error, "");
  for (const char* line : {"GPU-1", "GPU-1 xid", "GPU-1 xid x", "GPU-1 fan 3", "GPU-1 xid 3 4"}) {
    EXPECT_FALSE(ParseHealthLine(line, &error)) << line;
    EXPECT_EQ(error, std::string("a line: expected GPU-... xid NUMBER, got ") + line);
  }
}

TEST(HealthTest, SeesOnlyWhatIsAppendedLater) {
  const std::string path = testing::TempDir() + "simgpu-health-" + std::to_string(getpid());
  std::ofstream(path) << "GPU-1 xid 1\n";
  HealthFile file(path);
  EXPECT_FALSE(file.Next());
  std::ofstream(path, std::ios::app) << "nonsense\nGPU-2 xid 2\nGPU-3 xi";
  auto event = file.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->uuid, "GPU-2");
  EXPECT_FALSE(file.Next()) << "the last line is not whole";
  std::ofstream(path, std::ios::app) << "d 3\n";
  event = file.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->xid, 3u);
  unlink(path.c_str());
}

}  // namespace
}  // namespace simgpu
