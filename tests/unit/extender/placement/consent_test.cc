#include "extender/placement/consent.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

Gang In(const std::string& space, Consent consent) {
  Gang gang = Job(space);
  gang.space = space;
  gang.consent = consent;
  return gang;
}

TEST(MayMeetTest, JobsOfOneNamespace) {
  EXPECT_TRUE(MayMeet(In("a", Consent::kNamespace), In("a", Consent::kNamespace), {}));
}

TEST(MayMeetTest, OthersOnlyWhereBothConsent) {
  EXPECT_TRUE(MayMeet(In("a", Consent::kCluster), In("b", Consent::kCluster), {}));
  EXPECT_FALSE(MayMeet(In("a", Consent::kCluster), In("b", Consent::kNamespace), {}));
  EXPECT_FALSE(MayMeet(In("a", Consent::kNamespace), In("b", Consent::kCluster), {}));
}

TEST(MayMeetTest, WithinTheGroupsThatAreListed) {
  Settings settings;
  settings.namespace_groups = {{"a", "b"}, {"c", "d"}};
  EXPECT_TRUE(MayMeet(In("a", Consent::kCluster), In("b", Consent::kCluster), settings));
  EXPECT_FALSE(MayMeet(In("a", Consent::kCluster), In("c", Consent::kCluster), settings));
  EXPECT_FALSE(MayMeet(In("a", Consent::kCluster), In("b", Consent::kNamespace), settings));
}

}  // namespace
}  // namespace crossover::placement
