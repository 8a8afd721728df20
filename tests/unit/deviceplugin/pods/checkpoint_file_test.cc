#include "deviceplugin/pods/checkpoint_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/fd.h"

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

constexpr char kSlot[] = "crossover.dev/slot";
constexpr char kBegin[] = R"({"Data":{"PodDeviceEntries":[{"PodUID":")";
constexpr off_t kPodAt = sizeof kBegin - 1;

class CheckpointFileTest : public ::testing::Test {
 protected:
  CheckpointFileTest()
      : dir_(fs::temp_directory_path() / ("checkpoint_file_test." + std::to_string(getpid()))) {
    fs::create_directories(dir_);
  }
  ~CheckpointFileTest() override { fs::remove_all(dir_); }

  // Replaces the file by another one, as a kubelet does. All versions have the same size.
  void Write(char pod) const {
    const fs::path draft = dir_ / "draft";
    std::ofstream(draft) << kBegin << pod << R"(","ContainerName":"c","ResourceName":"crossover.dev/slot",)"
                         << R"("DeviceIDs":{"0":["GPU-a::0"]},"AllocResp":""}]}})";
    fs::rename(draft, path_);
  }
  std::string PodOf(const CheckpointFile& file) const {
    const auto checkpoint = file.Read();
    return checkpoint && !checkpoint->handed_out.empty() ? checkpoint->handed_out.front().pod_uid : "none";
  }
  // Waits until the file is old enough to be kept.
  void Settle(const CheckpointFile& file) const {
    std::uint64_t before = 0;
    do {
      before = file.parsed();
      EXPECT_EQ(PodOf(file), "a");
    } while (file.parsed() != before && usleep(50'000) == 0);
  }

  const fs::path dir_;
  const fs::path path_ = dir_ / "kubelet_internal_checkpoint";
};

TEST_F(CheckpointFileTest, OneThatIsNotThereIsEmptyAndOneThatCannotBeReadIsNot) {
  EXPECT_EQ(PodOf(CheckpointFile(dir_, kSlot)), "none");
  EXPECT_NE(CheckpointFile(dir_, kSlot).Read(), nullptr) << "nothing has been handed out yet";
  EXPECT_EQ(CheckpointFile("/proc/self/mem/x", kSlot).Read(), nullptr);
  std::ofstream(path_) << "{";
  EXPECT_EQ(CheckpointFile(dir_, kSlot).Read(), nullptr);
}

TEST_F(CheckpointFileTest, OneThatStaysIsParsedOnceAndOneThatComesInItsPlaceIsSeenAtOnce) {
  const CheckpointFile file(dir_, kSlot);
  Write('a');
  Settle(file);
  const std::uint64_t parsed = file.parsed();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(PodOf(file), "a");
  EXPECT_EQ(file.parsed(), parsed);
  Write('b');
  EXPECT_EQ(PodOf(file), "b");
  fs::remove(path_);
  EXPECT_EQ(PodOf(file), "none");
}

// The clock of the file system advances in steps of milliseconds. A reader that compares only times, size
// and inode would return the version before. The test writes in place, so that the inode is the same.
TEST_F(CheckpointFileTest, ManyWithinOneTickOfTheClockAreAllSeen) {
  const CheckpointFile file(dir_, kSlot);
  Write('a');
  const base::UniqueFd over(open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  for (int i = 0; i < 2000; ++i) {
    const char pod = static_cast<char>('a' + i % 26);
    ASSERT_EQ(pwrite(over.get(), &pod, 1, kPodAt), 1);
    ASSERT_EQ(PodOf(file), std::string(1, pod)) << i;
  }
}

// If the kernel's times are finer than the steps of its clock, the test before cannot fail. This one can.
TEST_F(CheckpointFileTest, OneThatIsTooYoungToBeToldFromTheNextIsNotKept) {
  const CheckpointFile file(dir_, kSlot);
  Write('a');
  Settle(file);
  const std::uint64_t settled = file.parsed();
  timespec soon[] = {{}, {}};
  clock_gettime(CLOCK_REALTIME, &soon[1]);
  soon[1].tv_sec += 3600;
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), soon, 0), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(PodOf(file), "a");
  EXPECT_EQ(file.parsed(), settled + 3);
}

TEST_F(CheckpointFileTest, EachOfManyThatComeInPlaceOfTheOneBeforeIsSeen) {
  const CheckpointFile file(dir_, kSlot);
  for (int i = 0; i < 2000; ++i) {
    const char pod = static_cast<char>('a' + i % 26);
    Write(pod);
    ASSERT_EQ(PodOf(file), std::string(1, pod)) << i;
  }
}

// The file is overwritten in place, and its modification time is set back.
TEST_F(CheckpointFileTest, OneThatIsWrittenOverIsSeenWhateverItsTimeOfWriting) {
  const CheckpointFile file(dir_, kSlot);
  Write('a');
  Settle(file);
  struct stat before {};
  ASSERT_EQ(stat(path_.c_str(), &before), 0);
  const base::UniqueFd over(open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(pwrite(over.get(), "b", 1, kPodAt), 1);
  const timespec times[] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  EXPECT_EQ(PodOf(file), "b");
}

}  // namespace
}  // namespace crossover::deviceplugin
