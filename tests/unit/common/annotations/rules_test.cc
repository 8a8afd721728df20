#include "common/annotations/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/annotations/domain.h"

namespace crossover::annotations {
namespace {

struct Case {
  const char* key;
  std::vector<std::string> allowed;
  std::vector<std::string> refused;
};

TEST(RulesTest, EachKeyTakesItsOwnValuesAlone) {
  const Case cases[] = {
      {"share", {"true", "exclusive"}, {"false", "True", "", "yes"}},
      {"gang", {"a", std::string(127, 'x')}, {"", "two words", std::string(128, 'x'), "new\nline"}},
      {"gang-size", {"1", "1000000"}, {"0", "1000001", "-1", "two", "1.5", ""}},
      {"gpu-memory", {"20Gi", "16Mi", "1000000000"}, {"20GB", "1", "Gi", "-20Gi", "2000Ti", "1.5Gi"}},
      {"profile-key", {"llama-7b"}, {"", "two words"}},
      {"turn-priority", {"high", "normal", "low"}, {"High", "1", ""}},
      {"max-slowdown", {"1.05", "2", "10"}, {"1", "0.9", "11", "1.2345", "much", ""}},
      {"share-with", {"namespace", "cluster"}, {"all", ""}},
      {"within",
       {"rack", "topology.kubernetes.io/zone", "a/b", std::string(63, 'x')},
       {"", "a b", "/rack", "zone/", "-rack", "a/b/c", std::string(64, 'x'), "rack=1"}},
      {"batch-shares", {"true"}, {"false", "1", ""}},
      {"shrink", {"off", "advise", "bf16", "q8", "adaptive", "auto"}, {"AUTO", "BF16", "true", ""}},
      {"mode", {"enforce", "observe", "off"}, {"Off", "on", ""}},
      {"maintenance", {"true", "false"}, {"yes", ""}},
  };
  for (const Case& one : cases) {
    const std::string key = std::string("crossover.dev/") + one.key;
    ASSERT_NE(RuleOf(key), nullptr) << key;
    for (const std::string& value : one.allowed) EXPECT_EQ(FaultOf(key, value), std::nullopt) << value;
    for (const std::string& value : one.refused) EXPECT_TRUE(FaultOf(key, value)) << key << " " << value;
  }
  EXPECT_EQ(std::size(cases), RulesOfPods().size() + 1) << "a key without a case here";
}

TEST(RulesTest, AFaultNamesKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(FaultOf("crossover.dev/share", "yes"),
            "crossover.dev/share: expected true or exclusive, got yes");
  EXPECT_EQ(FaultOf("crossover.dev/share", std::string("true\0x", 6)),
            "crossover.dev/share: expected true or exclusive, got true?x");
  EXPECT_EQ(FaultOf("other.dev/share", "yes"), std::nullopt);
  EXPECT_EQ(FaultOf("crossover.dev/shrink", "bf8"),
            "crossover.dev/shrink: expected off, advise, bf16, q8, adaptive or auto, got bf8");
}

TEST(RulesTest, TheNearestKeyIsFound) {
  EXPECT_EQ(NearestTo("crossover.dev/gangsize"), "crossover.dev/gang-size");
  EXPECT_EQ(NearestTo("crossover.dev/sharing"), "crossover.dev/share");
  EXPECT_EQ(NearestTo("crossover.dev/shrinking"), "crossover.dev/shrink");
  EXPECT_EQ(NearestTo("crossover.dev/memory"), "crossover.dev/gpu-memory");
  EXPECT_EQ(NearestTo("crossover.dev/priority"), "crossover.dev/turn-priority");
  EXPECT_EQ(NearestTo("crossover.dev/max_slowdown"), "crossover.dev/max-slowdown");
  EXPECT_FALSE(NearestTo(std::string(1 << 20, 'x')).empty());
}

TEST(OursTest, OnlyOursCountAndAnythingCanBeThere) {
  const nlohmann::json object = {
      {"metadata",
       {{"annotations", {{"crossover.dev/a", "1"}, {"crossover.devil/a", "2"}, {"crossover.dev/b", 3}}}}}};
  EXPECT_EQ(OursOf(object, "annotations"), (Annotations{{"crossover.dev/a", "1"}, {"crossover.dev/b", ""}}));
  EXPECT_TRUE(OursOf(object, "labels").empty());
  EXPECT_TRUE(OursOf(nlohmann::json(3), "labels").empty());
}

TEST(OursTest, WhatAUserWroteIsCutAndPrintable) {
  EXPECT_EQ(Shown("a\nb" + std::string(5000, 'x')), "a?b" + std::string(57, 'x') + "..");
  EXPECT_EQ(Shown("fine"), "fine");
}

}  // namespace
}  // namespace crossover::annotations
