#include "extender/admission/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender::admission {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = RangeRule::Kind;

json Object(const char* name_space, const char* name, const json& spec) {
  return {{"metadata", {{"namespace", name_space}, {"name", name}}}, {"spec", spec}};
}
json Quota(const char* name_space, const char* name, const json& hard) {
  return Object(name_space, name, {{"hard", hard}});
}
json Range(const char* name_space, const char* name, const json& items) {
  return Object(name_space, name, {{"limits", items}});
}

TEST(LimitsTest, NothingIsKnownBeforeBothLists) {
  Limits limits;
  EXPECT_FALSE(limits.In("a"));
  limits.quotas()->OnList(json::array());
  EXPECT_FALSE(limits.In("a"));
  limits.ranges()->OnList(json::array());
  ASSERT_TRUE(limits.In("a"));
  EXPECT_THAT(limits.In("a")->quotas, IsEmpty());
  EXPECT_THAT(limits.In("a")->ranges, IsEmpty());
}

TEST(LimitsTest, AllQuotasOfANamespaceCountTogether) {
  Limits limits;
  limits.ranges()->OnList(json::array());
  auto* quotas = limits.quotas();
  quotas->OnList(json::array({Quota("a", "x", {{"pods", "3"}}), Quota("b", "x", nullptr)}));
  EXPECT_THAT(limits.In("a")->quotas, ElementsAre("pods"));
  EXPECT_THAT(limits.In("b")->quotas, IsEmpty());
  EXPECT_THAT(limits.In("c")->quotas, IsEmpty());
  quotas->OnChange(Quota("a", "y", {{"requests.nvidia.com/gpu", "3"}}));
  EXPECT_THAT(limits.In("a")->quotas, ElementsAre("pods", "requests.nvidia.com/gpu"));
  quotas->OnChange(Quota("a", "x", {{"services", "3"}}));
  quotas->OnDelete(Quota("a", "y", nullptr));
  EXPECT_THAT(limits.In("a")->quotas, ElementsAre("services"));
  quotas->OnDelete(Quota("nowhere", "y", nullptr));
  quotas->OnList(json::array());
  EXPECT_THAT(limits.In("a")->quotas, IsEmpty());
}

TEST(LimitsTest, RangesOfContainersAndPodsAreRead) {
  Limits limits;
  limits.quotas()->OnList(json::array());
  limits.ranges()->OnList(json::array(
      {Range("a", "y", {{{"type", "Pod"}, {"max", {{"nvidia.com/gpu", 8}}}}}),
       Range("a", "x",
             {{{"type", "Container"},
               {"default", {{"nvidia.com/gpu", "1"}}},
               {"min", {{"cpu", "1"}}},
               {"maxLimitRequestRatio", {{"memory", "2"}}}},
              {{"type", "PersistentVolumeClaim"}, {"max", {{"storage", "1Gi"}}}}}),
       Range("b", "x", {{{"type", "Container"}, {"defaultRequest", {{"nvidia.com/gpu", "2"}}}}})}));
  EXPECT_THAT(limits.In("a")->ranges,
              ElementsAre(RangeRule{Kind::kDefault, "x", "nvidia.com/gpu", "1"},
                          RangeRule{Kind::kMin, "x", "cpu", "1"}, RangeRule{Kind::kRatio, "x", "memory", "2"},
                          RangeRule{Kind::kMax, "y", "nvidia.com/gpu", "8"}));
  EXPECT_THAT(limits.In("b")->ranges, ElementsAre(RangeRule{Kind::kDefault, "x", "nvidia.com/gpu", "2"}));
  limits.ranges()->OnDelete(Range("b", "x", json::array()));
  EXPECT_THAT(limits.In("b")->ranges, IsEmpty());
}

TEST(LimitsTest, ObjectsOfAnyFormAreSurvived) {
  for (const char* text : {"null", "3", "[]", R"({"spec": 1})", R"({"spec": {"limits": {"type": "Pod"}}})",
                           R"({"spec": {"limits": [1, {"type": 2}, {"type": "Pod", "max": []}]}})",
                           R"({"spec": {"hard": [1]}})"}) {
    const json object = json::parse(text);
    EXPECT_THAT(ReadQuota(object), IsEmpty()) << text;
    EXPECT_THAT(ReadLimitRange(object), IsEmpty()) << text;
  }
}

TEST(LimitsTest, KindsHaveTheKeysOfLimitRanges) {
  EXPECT_STREQ(NameOf(Kind::kDefault), "default");
  EXPECT_STREQ(NameOf(Kind::kMax), "max");
  EXPECT_STREQ(NameOf(Kind::kMin), "min");
  EXPECT_STREQ(NameOf(Kind::kRatio), "maxLimitRequestRatio");
}

}  // namespace
}  // namespace crossover::extender::admission
