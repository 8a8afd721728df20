#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "simgpu/peer/profile.h"

namespace simgpu::peer {
namespace {

using nccl::Call;
using nccl::Function;

Call Sum(std::uint64_t count) { return {.function = Function::kAllReduce, .count = count}; }

std::optional<std::vector<Stretch>> Read(const std::string& text, std::string* error) {
  const std::string path = testing::TempDir() + std::to_string(getpid()) + ".profile";
  std::ofstream(path) << text;
  auto profile = ReadProfile(path, error);
  unlink(path.c_str());
  return profile;
}

TEST(Profile, IsRead) {
  std::string error;
  const auto profile = Read("AllReduce 8 1000\nBroadcast 1 0\n", &error);
  ASSERT_TRUE(profile) << error;
  ASSERT_EQ(profile->size(), 2u);
  EXPECT_EQ((*profile)[0].count, 8u);
  EXPECT_EQ((*profile)[0].compute_ns, 1000u);
  EXPECT_EQ((*profile)[1].function, "Broadcast");
}

TEST(Profile, NamesTheBadLine) {
  std::string error;
  EXPECT_FALSE(Read("AllReduce 8 1000\nAllReduce 8\n", &error));
  EXPECT_NE(error.find(".profile:2: 'AllReduce 8' is not FUNCTION COUNT NS"), std::string::npos) << error;
}

TEST(Follower, ComputesBeforeEachCallAndWaitsForTheLast) {
  Follower follower({{"AllReduce", 8, 10}, {"AllReduce", 8, 20}, {"AllReduce", 4, 30}});
  for (int iteration = 0; iteration < 2; ++iteration) {
    EXPECT_EQ(follower.Next(Sum(8)).compute_ns, 10u);
    const Follower::Place second = follower.Next(Sum(8));
    EXPECT_EQ(second.compute_ns, 20u);
    EXPECT_FALSE(second.ends);
    const Follower::Place last = follower.Next(Sum(4));
    EXPECT_EQ(last.compute_ns, 30u);
    EXPECT_TRUE(last.ends);
  }
}

TEST(Follower, CallsOfSetUpAreNoneOfAnIteration) {
  Follower follower({{"AllReduce", 8, 10}, {"AllReduce", 4, 30}});
  EXPECT_EQ(follower.Next(Sum(99)).compute_ns, 0u);
  EXPECT_TRUE(follower.Next(Sum(99)).ends);
  EXPECT_EQ(follower.Next(Sum(8)).compute_ns, 10u);
  EXPECT_EQ(follower.Next(Sum(99)).compute_ns, 0u);  // the iteration was given up
  EXPECT_EQ(follower.Next(Sum(8)).compute_ns, 10u);
  EXPECT_EQ(follower.Next(Sum(4)).compute_ns, 30u);
}

}  // namespace
}  // namespace simgpu::peer
