#include "deviceplugin/plugin/directory_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/unit/deviceplugin/plugin/no_inotify.h"

namespace crossover::deviceplugin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The parameter says whether inotify is available.
class DirectoryWatchTest : public ::testing::TestWithParam<bool> {
 protected:
  DirectoryWatchTest() {
    char name[] = "/tmp/crossover-watch-XXXXXX";
    directory_ = mkdtemp(name);
    Make("before");
    if (!GetParam()) shortage_.emplace();
  }
  ~DirectoryWatchTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  void Make(const std::string& name) const { std::ofstream(Path(name)).put('x'); }
  std::vector<std::string> Taken() {
    std::vector<std::string> taken;
    for (const DirectoryWatch::Change& change : watch_.Take()) {
      const bool gone = change.kind == DirectoryWatch::Change::Kind::kDirectoryGone;
      const bool lost = change.kind == DirectoryWatch::Change::Kind::kLost;
      const bool came = change.kind == DirectoryWatch::Change::Kind::kCame;
      taken.push_back(gone ? "gone" : lost ? "lost" : (came ? "+" : "-") + change.name);
    }
    return taken;
  }

  std::string directory_, error_;
  std::optional<NoInotify> shortage_;
  DirectoryWatch watch_;
};

TEST_P(DirectoryWatchTest, TellsOfFilesThatComeAndLeave) {
  ASSERT_TRUE(watch_.Open(directory_, &error_)) << error_;
  EXPECT_EQ(watch_.fd() >= 0, GetParam());
  EXPECT_EQ(error_.empty(), GetParam());
  EXPECT_THAT(Taken(), IsEmpty());
  Make("new");
  EXPECT_THAT(Taken(), ElementsAre("+new"));
  std::filesystem::remove(Path("before"));
  EXPECT_THAT(Taken(), ElementsAre("-before"));
  EXPECT_THAT(Taken(), IsEmpty());
}

TEST_P(DirectoryWatchTest, OneInTheOthersPlaceHasCome) {
  Make("new");
  ASSERT_TRUE(watch_.Open(directory_, &error_)) << error_;
  std::filesystem::rename(Path("new"), Path("before"));
  EXPECT_THAT(Taken(), Contains("+before"));
}

TEST_P(DirectoryWatchTest, OtherModesAreNoChange) {
  ASSERT_TRUE(watch_.Open(directory_, &error_)) << error_;
  EXPECT_EQ(chmod(Path("before").c_str(), 0600), 0);
  EXPECT_THAT(Taken(), IsEmpty());
}

// The kernel keeps so many changes and drops those that come later. Without inotify none are lost.
TEST_P(DirectoryWatchTest, TellsThatChangesWereLost) {
  long most = 0;
  ASSERT_TRUE(std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most);
  if (GetParam() && most > 1'000'000) GTEST_SKIP() << most << " changes take too long";
  ASSERT_TRUE(watch_.Open(directory_, &error_)) << error_;
  for (long changes = 0; GetParam() && changes <= most + 4; changes += 4) {
    std::filesystem::rename(Path("before"), Path("after"));
    std::filesystem::rename(Path("after"), Path("before"));
  }
  Make("new");
  EXPECT_THAT(Taken(), Contains(GetParam() ? "lost" : "+new"));
  Make("newer");
  EXPECT_THAT(Taken(), ElementsAre("+newer")) << "the watch goes on";
}

TEST_P(DirectoryWatchTest, TellsThatTheDirectoryIsGone) {
  ASSERT_TRUE(watch_.Open(directory_, &error_)) << error_;
  std::filesystem::remove_all(directory_);
  EXPECT_THAT(Taken(), Contains("gone"));
}

TEST_P(DirectoryWatchTest, WhatIsNotThereIsNotWatched) {
  EXPECT_FALSE(watch_.Open(Path("missing"), &error_));
  EXPECT_THAT(error_, HasSubstr(Path("missing") + ": the daemon cannot watch it: "));
  EXPECT_THAT(Taken(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Inotify, DirectoryWatchTest, testing::Bool());

}  // namespace
}  // namespace crossover::deviceplugin
