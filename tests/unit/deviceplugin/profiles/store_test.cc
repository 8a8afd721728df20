#include "deviceplugin/profiles/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "deviceplugin/profiles/profile_messages.h"
#include "tests/unit/deviceplugin/profiles/sample.h"

static int disk_error = 0;

// Stands in for libc's function, because no test can fill a disk or break it.
extern "C" int fsync(int) {
  errno = disk_error;
  return disk_error == 0 ? 0 : -1;
}

namespace crossover::deviceplugin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path().string() + "/profiles-XXXXXX";
    top_ = mkdtemp(name.data());
  }
  void TearDown() override {
    disk_error = 0;
    fs::remove_all(top_);
  }
  std::string directory() const { return top_ + "/var/profiles"; }
  std::unique_ptr<ProfileStore> Open() {
    auto store = ProfileStore::Open(directory(), &error_);
    EXPECT_NE(store, nullptr) << error_;
    return store;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory())) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  }
  std::vector<std::string> Gangs(const ProfileStore& store) const {
    std::vector<std::string> gangs;
    for (const JobProfile& profile : store.All()) gangs.push_back(profile.job.gang);
    return gangs;
  }

  std::string top_;
  std::string error_;
};

TEST_F(StoreTest, WhatIsPutIsThereAfterARestart) {
  {
    const auto store = Open();
    EXPECT_TRUE(store->All().empty());
    store->Put(Sample("a"));
    store->Put(Sample("b"));
    JobProfile changed = Sample("b");
    changed.compute->value = 7'000'000;
    store->Put(changed);
    EXPECT_EQ(store->write_failures(), 0u);
  }
  const auto store = Open();
  EXPECT_THAT(Gangs(*store), ElementsAre("a", "b"));
  EXPECT_EQ(store->All()[1].compute->value, 7'000'000);
  EXPECT_EQ(store->Find("b", 1000, 4)->busy, 7'000'000);
  EXPECT_FALSE(store->Find("b", 1001, 4)) << "another user's job of the same name";
  EXPECT_FALSE(store->Find("b", 1000, 8)) << "or one of another size";
  EXPECT_THAT(Files(), ElementsAre("1000-4-a.json", "1000-4-b.json"));
}

TEST_F(StoreTest, AProfileWithoutTurnsTellsNoDemand) {
  JobProfile profile = Sample("a");
  profile.compute.reset();
  profile.away.reset();
  const auto store = Open();
  store->Put(profile);
  EXPECT_FALSE(store->Find("a", 1000, 4));
}

TEST_F(StoreTest, FilesAreTheOwnersAlone) {
  Open()->Put(Sample("a"));
  EXPECT_EQ(ModeOf(directory()), 0700u);
  EXPECT_EQ(ModeOf(directory() + "/1000-4-a.json"), 0600u);
}

TEST_F(StoreTest, BrokenFilesAreSetAsideAndKept) {
  Open()->Put(Sample("good"));
  const std::string path = directory() + "/1000-4-bad.json";
  for (const char* text : {"{", "not JSON", R"({"gang": "other", "uid": 1000, "size": 4})"}) {
    std::ofstream(path) << text;
    ::testing::internal::CaptureStderr();
    EXPECT_THAT(Gangs(*Open()), ElementsAre("good"));
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(path));
  }
  EXPECT_THAT(Files(), ElementsAre("1000-4-bad.json.1.broken", "1000-4-bad.json.2.broken",
                                   "1000-4-bad.json.broken", "1000-4-good.json"));
}

TEST_F(StoreTest, WhatIsNoProfileStays) {
  Open();
  std::ofstream(directory() + "/README") << "notes";
  std::ofstream(directory() + "/.1000-4-a.json.tmp") << "half";
  EXPECT_TRUE(Open()->All().empty());
  EXPECT_THAT(Files(), ElementsAre("README")) << "but what a killed daemon was writing goes";
}

TEST_F(StoreTest, TheOldestOfTheJobWithMostGoesFirst) {
  constexpr std::size_t kMost = 8;
  {
    const auto store = ProfileStore::Open(directory(), &error_, kMost);
    store->Put(Sample("other", -1'000'000, 1001));
    for (std::size_t i = 0; i < kMost; ++i) {
      store->Put(Sample("a" + std::to_string(i), static_cast<turn::Time>(i) * 1'000'000));
    }
    EXPECT_EQ(store->All().size(), kMost);
    EXPECT_FALSE(store->Find("a0", 1000, 4));
    EXPECT_TRUE(store->Find("a1", 1000, 4));
    EXPECT_TRUE(store->Find("other", 1001, 4)) << "older, but its user has one only";
    EXPECT_EQ(Files().size(), kMost);
  }
  EXPECT_EQ(ProfileStore::Open(directory(), &error_, kMost - 1)->All().size(), kMost - 1);
  EXPECT_EQ(Files().size(), kMost - 1) << "at the start too";
}

TEST_F(StoreTest, ADirectoryThatCannotBeUsedIsAnError) {
  std::ofstream(top_ + "/file") << "";
  EXPECT_EQ(ProfileStore::Open(top_ + "/file", &error_), nullptr);
  EXPECT_EQ(error_, top_ + "/file: expected a directory, got another file");
  EXPECT_EQ(ProfileStore::Open(top_ + "/file/profiles", &error_), nullptr);
  EXPECT_EQ(error_, top_ + "/file/profiles cannot be made: Not a directory");
  fs::create_directories(directory());
  chmod(directory().c_str(), 0777);
  EXPECT_EQ(ProfileStore::Open(directory(), &error_), nullptr);
  EXPECT_THAT(error_, HasSubstr(" that no other may write, got one of user " + std::to_string(geteuid()) +
                                " with mode 777"));
}

TEST_F(StoreTest, ADiskThatFailsKeepsNoJobFromLearning) {
  Open()->Put(Sample("before"));
  for (const int error : {ENOSPC, EDQUOT, EROFS, EIO}) {
    disk_error = error;
    ::testing::internal::CaptureStderr();
    const auto store = Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->write_failures(), 1u);
    store->Put(Sample("new"));
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(log, HasSubstr("profiles are kept in memory alone: " + directory()));
    EXPECT_EQ(log.find("a profile cannot be written"), std::string::npos) << "it was said: " << log;
    EXPECT_EQ(store->write_failures(), 2u);
    EXPECT_THAT(Gangs(*store), ElementsAre("before", "new"));
    EXPECT_THAT(Files(), ElementsAre("1000-4-before.json"));
    disk_error = 0;
    store->Put(Sample("before"));
    EXPECT_EQ(store->write_failures(), 2u) << "it is well again";
  }
  disk_error = EINVAL;
  EXPECT_EQ(ProfileStore::Open(directory(), &error_), nullptr) << "whatever else it is";
}

TEST_F(StoreTest, FailuresAreCountedAndNamedOnce) {
  const auto store = Open();
  fs::remove_all(directory());
  ::testing::internal::CaptureStderr();
  store->Put(Sample("a"));
  store->Put(Sample("b"));
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("a profile cannot be written: " + directory()));
  EXPECT_EQ(log.find("1000-4-b"), std::string::npos) << log;
  EXPECT_EQ(store->write_failures(), 2u);
  EXPECT_THAT(Gangs(*store), ElementsAre("a", "b")) << "it is known all the same";
  fs::create_directories(directory());
  store->Put(Sample("a"));
  EXPECT_EQ(store->write_failures(), 2u);
}

}  // namespace
}  // namespace crossover::deviceplugin
