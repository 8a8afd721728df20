#include "deviceplugin/inventory/rivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::vector<std::string> kOurs = {"GPU-a", "GPU-b"};

TEST(RivalsTest, GpusThatAnotherPluginNames) {
  EXPECT_THAT(FindRivals({{"nvidia.com/gpu", {"GPU-b", "GPU-c"}}}, {{"nvidia.com/gpu", "2"}}, kOurs),
              ElementsAre(Pair("GPU-b", HasSubstr("as nvidia.com/gpu"))));
  EXPECT_THAT(FindRivals({{"example.com/share", {"GPU-a-3"}}}, {{"example.com/share", "1"}}, kOurs),
              ElementsAre(Pair("GPU-a", HasSubstr("as example.com/share"))))
      << "of whatever maker, replicas too";
}

TEST(RivalsTest, NvidiasWithoutUuidsHaveThemAll) {
  EXPECT_EQ(FindRivals({{"nvidia.com/gpu", {"nvidia0"}}}, {{"nvidia.com/gpu", "1"}}, kOurs).size(), 2u);
  EXPECT_THAT(FindRivals({{"example.com/nic", {"0", "1"}}}, {{"example.com/nic", "2"}}, kOurs), IsEmpty());
  EXPECT_EQ(FindRivals({{"nvidia.com/gpu.shared", {"0"}}}, {{"nvidia.com/gpu.shared", "1"}}, kOurs).size(),
            2u);
  EXPECT_THAT(FindRivals({{"nvidia.com/hostdev", {"0000:3b:00.0"}}}, {{"nvidia.com/hostdev", "1"}}, kOurs),
              IsEmpty())
      << "of its network operator";
  EXPECT_THAT(FindRivals({{"nvidia.com/mig-1g.10gb", {"MIG-x"}}}, {{"nvidia.com/mig-1g.10gb", "1"}}, kOurs),
              IsEmpty());
}

TEST(RivalsTest, OneThatIsGoneIsNone) {
  const std::map<std::string, std::vector<std::string>> registered = {{"nvidia.com/gpu", {"GPU-a"}}};
  EXPECT_THAT(FindRivals(registered, {{"nvidia.com/gpu", "0"}}, kOurs), IsEmpty());
  EXPECT_THAT(FindRivals(registered, {}, kOurs), IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
