#include "deviceplugin/inventory/competing_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::vector<std::string> kOurs = {"GPU-a", "GPU-b"};

TEST(CompetingPluginsTest, GpusThatAnotherPluginNames) {
  EXPECT_THAT(FindCompetingPlugins({{"nvidia.com/gpu", {"GPU-b", "GPU-c"}}}, {{"nvidia.com/gpu", 2}}, kOurs),
              ElementsAre(Pair("GPU-b", Field(&base::WithheldReason::text, HasSubstr("as nvidia.com/gpu")))));
  EXPECT_THAT(
      FindCompetingPlugins({{"example.com/share", {"GPU-a-3"}}}, {{"example.com/share", 1}}, kOurs),
      ElementsAre(Pair("GPU-a", Field(&base::WithheldReason::text, HasSubstr("as example.com/share")))))
      << "of whatever maker, replicas too";
}

TEST(CompetingPluginsTest, NvidiasWithoutUuidsHaveThemAll) {
  EXPECT_EQ(FindCompetingPlugins({{"nvidia.com/gpu", {"nvidia0"}}}, {{"nvidia.com/gpu", 1}}, kOurs).size(),
            2u);
  EXPECT_THAT(FindCompetingPlugins({{"example.com/nic", {"0", "1"}}}, {{"example.com/nic", 2}}, kOurs),
              IsEmpty());
  EXPECT_EQ(
      FindCompetingPlugins({{"nvidia.com/gpu.shared", {"0"}}}, {{"nvidia.com/gpu.shared", 1}}, kOurs).size(),
      2u);
  EXPECT_THAT(
      FindCompetingPlugins({{"nvidia.com/hostdev", {"0000:3b:00.0"}}}, {{"nvidia.com/hostdev", 1}}, kOurs),
      IsEmpty())
      << "of its network operator";
  EXPECT_THAT(
      FindCompetingPlugins({{"nvidia.com/mig-1g.10gb", {"MIG-x"}}}, {{"nvidia.com/mig-1g.10gb", 1}}, kOurs),
      IsEmpty());
}

TEST(CompetingPluginsTest, OneThatIsGoneIsNone) {
  const std::map<std::string, std::vector<std::string>> registered = {{"nvidia.com/gpu", {"GPU-a"}}};
  EXPECT_THAT(FindCompetingPlugins(registered, {{"nvidia.com/gpu", 0}}, kOurs), IsEmpty());
  EXPECT_THAT(FindCompetingPlugins(registered, {}, kOurs), IsEmpty());
}

class PodsOfCompetingPluginsTest : public ::testing::Test {
 protected:
  PodsOfCompetingPluginsTest() {
    pod_.uid = "u";
    pod_.name_space = "team";
    pod_.name = "p";
  }
  auto Find(const std::string& resource, std::vector<std::string> ids, const std::string& uid = "u") {
    return FindPodsOfCompetingPlugins({{resource, uid, std::move(ids)}}, {pod_}, kOurs);
  }
  Pod pod_;
};

TEST_F(PodsOfCompetingPluginsTest, ThoseThatLiveHaveTheirGpusWhetherThePluginIsThereOrNot) {
  EXPECT_THAT(Find("nvidia.com/gpu", {"GPU-b"}),
              ElementsAre(Pair("GPU-b", ElementsAre("team/p, as nvidia.com/gpu"))));
  EXPECT_EQ(Find("nvidia.com/gpu", {"nvidia0"}).size(), 2u) << "which one is not known";
  EXPECT_THAT(Find("example.com/nic", {"0"}), IsEmpty());
  EXPECT_THAT(Find("nvidia.com/gpu", {}), IsEmpty());
}

TEST_F(PodsOfCompetingPluginsTest, ThoseThatAreOverOrGoneHaveNone) {
  EXPECT_THAT(Find("nvidia.com/gpu", {"GPU-b"}, "gone"), IsEmpty());
  pod_.over = true;
  EXPECT_THAT(Find("nvidia.com/gpu", {"GPU-b"}), IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
