#include "simgpu/cuda/occupancy.h"

#include <gtest/gtest.h>

namespace simgpu {
namespace {

TEST(OccupancyTest, AnSmHoldsSoManyThreadsAndBlocks) {
  EXPECT_EQ(BlocksOfAnSm(1024), 2u);
  EXPECT_EQ(BlocksOfAnSm(256), 8u);
  EXPECT_EQ(BlocksOfAnSm(33), 32u) << "two warps, 64 threads: 32 blocks";
  EXPECT_EQ(BlocksOfAnSm(1), 32u);
}

TEST(OccupancyTest, ALaunchAsksForTheSmsThatItsBlocksFill) {
  EXPECT_EQ(SmsOfGrid(1, 32), 1u);
  EXPECT_EQ(SmsOfGrid(264, 1024), 132u);
  EXPECT_EQ(SmsOfGrid(263, 1024), 132u);
  EXPECT_EQ(SmsOfGrid(132, 256), 17u);
  EXPECT_EQ(SmsOfGrid(1u << 20, 1024), 1u << 19) << "as many as it would fill";
}

}  // namespace
}  // namespace simgpu
