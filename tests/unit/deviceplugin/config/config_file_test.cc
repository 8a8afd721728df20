#include "deviceplugin/config/config_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

// The file looks as a kubelet mounts one of a ConfigMap: its path is a link to a link, and an update
// replaces it as a whole.
class ConfigFileTest : public ::testing::Test {
 protected:
  ConfigFileTest() : dir_(fs::temp_directory_path() / ("config_file_test." + std::to_string(getpid()))) {
    fs::create_directories(dir_);
    Write("one", "node: {slots_per_gpu: 3}\nconfigurations: {big: {node: {slots_per_gpu: 7}}}\n");
    fs::create_symlink("one", dir_ / "data");
    fs::create_symlink("data/config.yaml", dir_ / "config.yaml");
  }
  ~ConfigFileTest() override { fs::remove_all(dir_); }

  void Write(const std::string& version, const std::string& text) const {
    fs::create_directories(dir_ / version);
    std::ofstream(dir_ / version / "config.yaml") << text;
  }
  void Switch(const std::string& version) const {
    fs::create_symlink(version, dir_ / "new");
    fs::rename(dir_ / "new", dir_ / "data");
  }

  const fs::path dir_;
  ConfigFile file_{(dir_ / "config.yaml").string()};
  std::string error_;
};

TEST_F(ConfigFileTest, AChangeIsSeenOnce) {
  EXPECT_EQ(file_.Read("", &error_)->node.live.slots_per_gpu, 3u);
  EXPECT_FALSE(file_.Changed());
  Write("two", "node: {slots_per_gpu: 4}\n");
  Switch("two");
  EXPECT_TRUE(file_.Changed());
  EXPECT_EQ(file_.Read("", &error_)->node.live.slots_per_gpu, 4u);
  EXPECT_FALSE(file_.Changed());
}

TEST_F(ConfigFileTest, AFileThatIsNotValidIsNotReadAgainAndAgain) {
  ASSERT_TRUE(file_.Read("", &error_));
  Write("two", "node: {slots_per_gpu: 400}\n");
  Switch("two");
  EXPECT_FALSE(file_.Read("", &error_));
  EXPECT_FALSE(file_.state().valid);
  EXPECT_FALSE(file_.Changed());
}

TEST_F(ConfigFileTest, OneOfItsNamedConfigurations) {
  EXPECT_EQ(file_.Read("big", &error_)->node.live.slots_per_gpu, 7u);
  EXPECT_EQ(file_.state().chosen, "big");
  EXPECT_EQ(file_.state().fault, "");
  EXPECT_EQ(file_.Read("none", &error_)->node.live.slots_per_gpu, 3u) << "the one without a name";
  EXPECT_EQ(file_.state().chosen, "");
  EXPECT_EQ(file_.state().fault, "crossover.dev/configuration: expected one of big, as " +
                                     (dir_ / "config.yaml").string() + " names them, got none");
  EXPECT_TRUE(file_.state().valid);
}

}  // namespace
}  // namespace crossover::deviceplugin
