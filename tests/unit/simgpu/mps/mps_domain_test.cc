#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simgpu/mps/domain.h"

namespace simgpu::mps {
namespace {

using testing::UnorderedElementsAre;

TEST(FaultDomainTest, IsTheGpuAloneWhereNoClientLinksIt) {
  EXPECT_THAT(FaultDomain({}, "a"), UnorderedElementsAre("a"));
  EXPECT_THAT(FaultDomain({{"a"}, {"a"}, {"b"}, {}}, "a"), UnorderedElementsAre("a"));
}

TEST(FaultDomainTest, ClientsLinkTheirGpus) {
  EXPECT_THAT(FaultDomain({{"a", "b"}, {"c", "d"}}, "b"), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(FaultDomain({{"a", "b"}, {"c", "d"}}, "d"), UnorderedElementsAre("c", "d"));
}

TEST(FaultDomainTest, LinksReachFartherInAnyOrderOfClients) {
  EXPECT_THAT(FaultDomain({{"c", "d"}, {"b", "c"}, {"a", "b"}, {"e"}}, "a"),
              UnorderedElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(FaultDomain({{"a", "b"}, {"b", "c"}, {"c", "d"}, {"e"}}, "a"),
              UnorderedElementsAre("a", "b", "c", "d"));
}

TEST(FaultDomainTest, AClientIsInADomainIfItUsesAGpuOfIt) {
  EXPECT_TRUE(Meets({"a", "z"}, {"a", "b"}));
  EXPECT_FALSE(Meets({"z"}, {"a", "b"}));
  EXPECT_FALSE(Meets({}, {"a", "b"}));
}

}  // namespace
}  // namespace simgpu::mps
