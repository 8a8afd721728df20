#include "common/files/read_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/unit/common/hearing.h"

namespace crossover::files {
namespace {

using ::testing::HasSubstr;

class ReadFileOfOthersTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::optional<std::string> Read() { return ReadFileOfOthers(path_, 8, &error_); }

  const std::string folder_ = testing::TempDir() + "/read_file_test-" + std::to_string(getpid());
  const std::string path_ = folder_ + "/file";
  std::string error_;
};

TEST_F(ReadFileOfOthersTest, WholeFilesThatAreNotTooLong) {
  std::ofstream(path_) << "12345678";
  EXPECT_EQ(Read(), "12345678");
  std::ofstream(path_) << "";
  EXPECT_EQ(Read(), "");
  std::ofstream(path_) << "123456789";
  EXPECT_FALSE(Read());
  EXPECT_EQ(error_, path_ + ": expected at most 8 bytes, got more");
}

TEST_F(ReadFileOfOthersTest, NoReaderIsKeptWaitingOrLedElsewhere) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(Read());
  EXPECT_EQ(error_, path_ + ": expected a regular file, got another kind of file");
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_FALSE(Read());
  EXPECT_THAT(error_, HasSubstr("cannot be read: Too many levels of symbolic links"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(Read());
  std::filesystem::remove(path_);
  EXPECT_FALSE(Read());
  EXPECT_THAT(error_, HasSubstr("cannot be read: No such file"));
}

// The other process sends signals while this one waits for text, and only then the text.
TEST_F(ReadFileOfOthersTest, ASignalEndsNoRead) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const std::string heard = folder_ + "/heard";
  const Hearing hearing(heard);
  const pid_t reader = getpid();
  const pid_t writer = fork();
  if (writer == 0) {
    const int fd = open(path_.c_str(), O_WRONLY);
    while (access(heard.c_str(), F_OK) != 0 && getppid() == reader) kill(reader, SIGUSR1);
    _exit(write(fd, "text", 4) == 4 ? 0 : 1);
  }
  EXPECT_EQ(ReadFile(path_, &error_), "text") << error_;
  int status = 0;
  while (waitpid(writer, &status, 0) < 0) ASSERT_EQ(errno, EINTR);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace crossover::files
