#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/fd.h"
#include "deviceplugin/mps/shm.h"

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "/run/crossover/mps/shm";

std::string Line(const std::string& rest) { return "36 35 0:52 " + rest + "\n"; }

TEST(ShmMountTest, OursIsKnownByItsSource) {
  const std::string at = std::string("/ ") + kFolder + " rw,nosuid shared:7 master:1 - ";
  EXPECT_EQ(ShmMountIn(Line(at + "tmpfs crossover-mps rw,size=1024k"), kFolder), ShmMount::kOurs);
  EXPECT_EQ(ShmMountIn(Line(at + "tmpfs mps-shm rw"), kFolder), ShmMount::kTmpfs) << "an administrator's";
  EXPECT_EQ(ShmMountIn(Line(at + "ext4 crossover-mps rw"), kFolder), ShmMount::kOther);
  EXPECT_EQ(ShmMountIn(Line(std::string("/part ") + kFolder + " rw - tmpfs crossover-mps rw"), kFolder),
            ShmMount::kOther)
      << "a folder of a tmpfs";
  EXPECT_EQ(ShmMountIn(Line("/ /run/crossover rw - tmpfs crossover-mps rw"), kFolder), ShmMount::kOther);
  EXPECT_EQ(ShmMountIn("", kFolder), ShmMount::kOther);
  EXPECT_EQ(ShmMountIn("1 2 3", kFolder), ShmMount::kOther);
}

TEST(ShmMountTest, TheLastMountCounts) {
  const std::string at = std::string("/ ") + kFolder + " rw - ";
  const std::string ours = Line(at + "tmpfs crossover-mps rw"), other = Line(at + "ext4 /dev/sda rw");
  EXPECT_EQ(ShmMountIn(ours + other, kFolder), ShmMount::kOther);
  EXPECT_EQ(ShmMountIn(other + ours, kFolder), ShmMount::kOurs);
}

class LeftoversTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "shm" / "a" / "b");
    fs::create_directories(root_ / "outside");
    Make("outside/precious");
    Make("shm/torch_1");
    Make("shm/a/b/nccl-2");
  }
  void TearDown() override { fs::remove_all(root_); }
  void Make(const std::string& name) const { std::ofstream(root_ / name) << "x"; }
  std::size_t Remove(std::size_t most = 1000) const {
    const base::UniqueFd folder(open((root_ / "shm").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return RemoveLeftovers(folder.get(), most);
  }

  const fs::path root_ = fs::path(testing::TempDir()) / ("mps_shm_test-" + std::to_string(getpid()));
};

TEST_F(LeftoversTest, AllThatPodsLeftGoes) {
  EXPECT_EQ(Remove(), 4u);
  EXPECT_TRUE(fs::is_empty(root_ / "shm"));
  EXPECT_EQ(Remove(), 0u);
}

TEST_F(LeftoversTest, LinksGoAndWhatTheyPointAtStays) {
  fs::create_symlink(root_ / "outside", root_ / "shm" / "folder");
  fs::create_symlink(root_ / "outside" / "precious", root_ / "shm" / "a" / "file");
  Remove();
  EXPECT_TRUE(fs::is_empty(root_ / "shm"));
  EXPECT_TRUE(fs::exists(root_ / "outside" / "precious"));
}

TEST_F(LeftoversTest, WhatMpsMayHaveInUseStays) {
  Make("shm/cuda.shm.0.1");
  Make("shm/a/cuda.shm.0.2");
  Remove();
  EXPECT_TRUE(fs::exists(root_ / "shm" / "cuda.shm.0.1"));
  EXPECT_FALSE(fs::exists(root_ / "shm" / "a")) << "MPS has no folders there";
}

TEST_F(LeftoversTest, NoMoreThanWanted) {
  EXPECT_EQ(Remove(1), 1u);
  EXPECT_FALSE(fs::is_empty(root_ / "shm"));
}

TEST_F(LeftoversTest, AFolderThatIsNotOursIsLeftAlone) {
  EXPECT_EQ(EmptyShm(root_ / "shm"), 0u);
  EXPECT_TRUE(fs::exists(root_ / "shm" / "torch_1"));
  EXPECT_FALSE(RoomInShm(root_ / "shm"));
}

TEST(ShmIdleTest, OnceNoPodIsUnderMpsAndNothingWasHandedOutForAWhile) {
  constexpr ShmIdle::Time kSecond = 1'000'000'000;
  ShmIdle idle;
  const std::vector<DeviceAllocation> one = {{"a", "main", {"GPU-1::0"}, "x"}};
  EXPECT_FALSE(idle.Passed(one, false, 0));
  EXPECT_FALSE(idle.Passed(one, false, 29 * kSecond));
  EXPECT_TRUE(idle.Passed(one, false, 30 * kSecond));
  EXPECT_FALSE(idle.Passed(one, false, 31 * kSecond)) << "not again at once";
  EXPECT_FALSE(idle.Passed({}, false, 59 * kSecond)) << "the kubelet has handed something out, or taken it";
  EXPECT_FALSE(idle.Passed({}, false, 88 * kSecond));
  EXPECT_TRUE(idle.Passed({}, false, 89 * kSecond));
  EXPECT_FALSE(idle.Passed({}, true, 200 * kSecond)) << "a pod is there";
  EXPECT_FALSE(idle.Passed({}, false, 201 * kSecond));
  EXPECT_FALSE(idle.Passed({}, false, 230 * kSecond));
  EXPECT_TRUE(idle.Passed({}, false, 231 * kSecond));
}

}  // namespace
}  // namespace crossover::deviceplugin
