#include "cli/cluster/call_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kMiB = 1 << 20;

json Group(const char* function, const std::vector<int>& members, double bytes = kMiB) {
  return {{"function", function}, {"members", members}, {"bytes", bytes}};
}
json Communication(int pods, const std::vector<json>& groups, int runs = 2) {
  return {{"pods", pods}, {"runs", runs}, {"gang", "team/a"}, {"groups", groups}};
}
std::string Shape(int pods, const std::vector<json>& groups) { return ShapeOf(Communication(pods, groups)); }

TEST(CallShapeTest, OneGroupOfAllPodsIsDataParallel) {
  EXPECT_EQ(Shape(4, {Group("AllReduce", {0, 1, 2, 3})}), "data parallel");
  EXPECT_EQ(Shape(2, {Group("AllReduce", {0, 0, 1, 1}), Group("Broadcast", {1, 0})}), "data parallel");
  EXPECT_EQ(Shape(4, {Group("AllReduce", {0, 1, 2})}), "") << "one pod takes no part";
  EXPECT_EQ(Shape(1, {Group("AllReduce", {0, 0})}), "") << "nothing crosses the network";
}

TEST(CallShapeTest, DisjointGroupsAreCounted) {
  EXPECT_EQ(Shape(6, {Group("AllGather", {0, 1, 2}), Group("AllGather", {3, 4, 5})}), "2 groups of 3");
  EXPECT_EQ(Shape(5, {Group("AllGather", {0, 1, 2}), Group("AllGather", {3, 4})}), "") << "of unequal size";
}

TEST(CallShapeTest, ChainsOfSendArePipelines) {
  EXPECT_EQ(Shape(3, {Group("Send", {0, 1}), Group("Send", {1, 2}), Group("Send", {2, 1})}),
            "pipeline of 3 stages");
  EXPECT_EQ(Shape(4, {Group("Send", {0, 1}), Group("Send", {2, 3})}), "2 pipelines of 2 stages");
  EXPECT_EQ(Shape(4, {Group("Send", {0, 1}), Group("Send", {0, 2}), Group("Send", {0, 3})}), "") << "a star";
  EXPECT_EQ(Shape(3, {Group("Send", {0, 1}), Group("Send", {1, 2}), Group("AllReduce", {0, 1, 2})}),
            "data parallel, pipeline of 3 stages");
}

TEST(CallShapeTest, FamiliesThatCrossAreAGrid) {
  EXPECT_EQ(Shape(4, {Group("AllReduce", {0, 2}), Group("AllReduce", {1, 3}), Group("AllGather", {0, 1}),
                      Group("AllGather", {2, 3})}),
            "grid 2 x 2");
  EXPECT_EQ(Shape(6, {Group("AllReduce", {0, 3}), Group("AllReduce", {1, 4}), Group("AllReduce", {2, 5}),
                      Group("Send", {0, 1}), Group("Send", {1, 2}), Group("Send", {3, 4}),
                      Group("Send", {4, 5}), Group("AllReduce", {0, 1, 2, 3, 4, 5}, 8)}),
            "grid 3 x 2");
  EXPECT_EQ(Shape(4, {Group("AllReduce", {0, 1}), Group("AllReduce", {2, 3}), Group("Send", {0, 1}),
                      Group("Send", {2, 3})}),
            "2 groups of 2, 2 pipelines of 2 stages")
      << "the control: they are the same pods";
}

TEST(CallShapeTest, TheTextListsTheLargestAndSaysWhetherItIsUsed) {
  const std::vector<json> groups = {Group("AllReduce", {0, 1, 2, 3}, 12 * kMiB), Group("Send", {0, 1}),
                                    Group("Send", {1, 2}), Group("AllReduce", {0, 1, 3}, 100)};
  EXPECT_EQ(
      CommunicationText(Communication(4, groups)),
      "  communication, in 2 runs (data parallel): AllReduce of 12.0 MiB over pods 0-3; "
      "Send of 1.0 MiB 0 -> 1, 1 -> 2; AllReduce of 100 bytes over pods 0-1,3; pods are placed by it\n");
  const std::string once = CommunicationText(Communication(4, {groups[0]}, 1));
  EXPECT_THAT(once, HasSubstr("in 1 run (data parallel)"));
  EXPECT_THAT(once, HasSubstr("; seen in one run, used once two runs agree\n"));
  EXPECT_THAT(once, Not(HasSubstr("mapped")));
}

TEST(CallShapeTest, LongListsAreCut) {
  std::vector<json> groups;
  for (int pod = 0; pod < 12; pod += 2) groups.push_back(Group("AllReduce", {pod, pod + 1}));
  EXPECT_THAT(
      CommunicationText(Communication(12, groups)),
      HasSubstr("AllReduce of 1.0 MiB over pods 0-1 / 2-3 / 4-5 / 6-7 and 2 more; pods are placed by it"));
  groups.clear();
  for (int i = 0; i < 9; ++i) groups.push_back(Group("AllReduce", {0, 1}, 9 - i));
  const std::string text = CommunicationText(Communication(2, groups));
  EXPECT_THAT(text, HasSubstr("AllReduce of 4 bytes over pods 0-1 and 3 more; pods are placed by it"));
}

TEST(CallShapeTest, OfWhatIsMalformedNothingIsSaid) {
  const json sound = Communication(2, {Group("Send", {0, 1})});
  EXPECT_NE(CommunicationText(sound), "") << "the control";
  for (const char* patch :
       {R"({"pods": 1})", R"({"pods": "2"})", R"({"pods": 99999})", R"({"runs": 0})", R"({"runs": "2"})",
        R"({"groups": []})", R"({"groups": 7})", R"({"groups": [7]})",
        R"({"groups": [{"function": "Send"}]})", R"({"groups": [{"function": "Send", "members": [0, 1]}]})",
        R"({"groups": [{"function": "Send", "members": [0, -1], "bytes": 1}]})",
        R"({"groups": [{"function": "Send", "members": [0], "bytes": 1}]})",
        R"({"groups": [{"function": "Send", "members": [0, 1, 0], "bytes": 1}]})",
        R"({"groups": [{"function": 7, "members": [0, 1], "bytes": 1}]})",
        R"({"groups": [{"function": "Send", "members": [0, 1e300], "bytes": 1}]})"}) {
    json twin = sound;
    twin.merge_patch(json::parse(patch));
    EXPECT_EQ(CommunicationText(twin), "") << patch;
    ShapeOf(twin);
  }
  for (const char* text : {"null", "[]", "3", "\"x\"", "{}"})
    EXPECT_EQ(CommunicationText(json::parse(text)), "") << text;
}

}  // namespace
}  // namespace crossover::cli
