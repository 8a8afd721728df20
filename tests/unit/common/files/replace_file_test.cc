#include "common/files/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/files/read_file.h"

namespace crossover::files {
namespace {

namespace fs = std::filesystem;

class ReplaceFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  static std::string Read(const std::string& path) {
    std::string error;
    return ReadFile(path, &error).value_or(error);
  }
  std::size_t Files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const std::string folder_ = testing::TempDir() + "/replace_file_test-" + std::to_string(getpid());
  const std::string path_ = folder_ + "/file";
};

TEST_F(ReplaceFileTest, AnotherFileTakesThePlaceOfTheOldOne) {
  EXPECT_EQ(ReplaceFile(path_, "old"), "");
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  fs::create_hard_link(path_, folder_ + "/reader");
  EXPECT_EQ(ReplaceFile(path_, "new"), "");
  EXPECT_EQ(Read(path_), "new");
  EXPECT_EQ(Read(folder_ + "/reader"), "old") << "who has opened the old file reads it to its end";
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms{0640});
  EXPECT_EQ(Files(), 2u);
}

TEST_F(ReplaceFileTest, ALinkStays) {
  EXPECT_EQ(ReplaceFile(path_, "old"), "");
  fs::create_symlink("file", folder_ + "/link");
  EXPECT_EQ(ReplaceFile(folder_ + "/link", "new"), "");
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_EQ(Read(path_), "new");
}

TEST_F(ReplaceFileTest, WhatIsNoRegularFileIsWrittenTo) {
  EXPECT_EQ(ReplaceFile("/dev/null", "text"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(ReplaceFile("/dev/full", "text"), "/dev/full: cannot be written: No space left on device");
}

TEST_F(ReplaceFileTest, AFailureIsTold) {
  EXPECT_EQ(ReplaceFile(folder_, "text"), folder_ + ": cannot be written: Is a directory");
  const std::string nowhere = folder_ + "/none/file";
  EXPECT_EQ(ReplaceFile(nowhere, "text"), nowhere + ": cannot be written: No such file or directory");
  EXPECT_EQ(Files(), 0u);
}

}  // namespace
}  // namespace crossover::files
