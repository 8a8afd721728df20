#include "deviceplugin/library_installer/library_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class LibraryStoreTest : public ::testing::Test {
 protected:
  LibraryStoreTest() {
    char name[] = "/tmp/crossover-store-XXXXXX";
    top_ = mkdtemp(name);
  }
  ~LibraryStoreTest() override { fs::remove_all(top_); }

  std::string Library(const std::string& content) {
    std::ofstream(top_ + "/built.so") << content;
    return top_ + "/built.so";
  }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat status {};
    stat(path.c_str(), &status);
    return status.st_mode & 0777;
  }

  std::string top_;
  std::string error_;
};

TEST_F(LibraryStoreTest, AContainerFindsTheLibraryAndTheFileThatNamesIt) {
  const auto directory = InstallLibrary(Library("one"), top_ + "/host", &error_);
  ASSERT_TRUE(directory) << error_;
  EXPECT_EQ(Read(*directory + "/libcrossover.so"), "one");
  EXPECT_EQ(Read(*directory + "/ld.so.preload"), "/opt/crossover/libcrossover.so\n");
  EXPECT_EQ(ModeOf(*directory), 0755u) << "any user's processes load it";
  EXPECT_EQ(ModeOf(*directory + "/libcrossover.so"), 0555u);
  EXPECT_EQ(ModeOf(*directory + "/ld.so.preload"), 0444u);
}

// A container loads it by the variable that the webhook sets, and never by the file for all processes.
TEST_F(LibraryStoreTest, TheLibraryThatCompressesIsBesideIt) {
  const auto plain = InstallLibrary(Library("one"), top_ + "/host", &error_);
  EXPECT_FALSE(fs::exists(*plain + "/libcrossover-shrink.so"));
  std::ofstream(top_ + "/libcrossover-shrink.so") << "narrows";
  const auto both = InstallLibrary(Library("one"), top_ + "/host", &error_);
  ASSERT_TRUE(both) << error_;
  EXPECT_NE(both, plain) << "containers that have the other directory keep it as it was";
  EXPECT_EQ(Read(*both + "/libcrossover-shrink.so"), "narrows");
  EXPECT_EQ(ModeOf(*both + "/libcrossover-shrink.so"), 0555u);
  EXPECT_EQ(Read(*both + "/ld.so.preload"), "/opt/crossover/libcrossover.so\n");
  std::ofstream(top_ + "/libcrossover-shrink.so") << "narrows more";
  EXPECT_NE(InstallLibrary(Library("one"), top_ + "/host", &error_), both);
}

TEST_F(LibraryStoreTest, AVersionIsMadeOnceAndStaysAsItIs) {
  const auto first = InstallLibrary(Library("one"), top_ + "/host", &error_);
  ASSERT_TRUE(first);
  std::ofstream(*first + "/mark") << "x";
  EXPECT_EQ(InstallLibrary(Library("one"), top_ + "/host", &error_), first);
  EXPECT_EQ(Read(*first + "/mark"), "x");
  const auto second = InstallLibrary(Library("two"), top_ + "/host", &error_);
  EXPECT_NE(second, first);
  EXPECT_EQ(Read(*first + "/libcrossover.so"), "one") << "containers may still start with it";
}

TEST_F(LibraryStoreTest, LeavesNoDraftBehind) {
  ASSERT_TRUE(InstallLibrary(Library("one"), top_ + "/host", &error_));
  int entries = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(top_ + "/host/lib")) ++entries;
  EXPECT_EQ(entries, 1);
}

TEST_F(LibraryStoreTest, SaysWhatIsWrong) {
  EXPECT_FALSE(InstallLibrary(top_ + "/none.so", top_ + "/host", &error_));
  EXPECT_THAT(error_, HasSubstr("none.so: cannot be read"));
  std::ofstream(top_ + "/file") << "x";
  EXPECT_FALSE(InstallLibrary(Library("one"), top_ + "/file", &error_));
  EXPECT_THAT(error_, HasSubstr(top_ + "/file/lib: "));
}

TEST_F(LibraryStoreTest, NothingIsGivenOutFromWhereNothingRuns) {
  const auto noexec = [](const std::string& directory) {
    return directory.find("/host/") != std::string::npos;
  };
  EXPECT_FALSE(InstallLibrary(Library("one"), top_ + "/host", &error_, noexec));
  EXPECT_THAT(error_, HasSubstr(top_ + "/host/lib/"));
  EXPECT_THAT(error_, HasSubstr("its file system is mounted noexec: no process could load the library"));
  EXPECT_TRUE(InstallLibrary(Library("one"), top_ + "/elsewhere", &error_, noexec)) << error_;
}

TEST_F(LibraryStoreTest, VersionsThatNoPodHasAreCollected) {
  const std::string host = top_ + "/host";
  std::vector<std::string> versions;
  for (const char* content : {"one", "two", "three"})
    versions.push_back(*InstallLibrary(Library(content), host, &error_));
  fs::create_directories(host + "/lib/draft.new.7");
  const std::string named = "\x12\x20" + versions[0] + "\x18\x01";  // as it stands in a message
  EXPECT_THAT(CollectLibraries(host, versions[2], named, std::chrono::hours(1)), testing::IsEmpty())
      << "too young";
  EXPECT_THAT(CollectLibraries(host, versions[2], named, std::chrono::seconds(0)),
              testing::UnorderedElementsAre(versions[1], host + "/lib/draft.new.7"));
  EXPECT_TRUE(fs::exists(versions[0] + "/libcrossover.so")) << "a container still has it";
  EXPECT_TRUE(fs::exists(versions[2] + "/libcrossover.so"));
  EXPECT_FALSE(fs::exists(versions[1]));
  EXPECT_THAT(CollectLibraries("/nonexistent", "", "", std::chrono::seconds(0)), testing::IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
