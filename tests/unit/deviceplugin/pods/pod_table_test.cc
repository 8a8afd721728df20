#include "deviceplugin/pods/pod_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

json Made(const std::string& uid, const std::string& created, const std::string& gpu, int slots = 1) {
  const json assignment = {{"containers", {{"main", json::array({gpu})}}}};
  return {
      {"metadata",
       {{"uid", uid},
        {"namespace", "team"},
        {"name", uid},
        {"creationTimestamp", created},
        {"annotations", {{"crossover.dev/assignment", assignment.dump()}}}}},
      {"spec",
       {{"containers",
         json::array({{{"name", "main"},
                       {"resources", {{"limits", {{"crossover.dev/slot", std::to_string(slots)}}}}}}})}}}};
}

TEST(PodTableTest, KeepsUpWithWhatItIsTold) {
  PodTable table;
  table.OnList(json::array({Made("a", "1", "G"), Made("b", "1", "G")}));
  EXPECT_TRUE(table.Find("a"));
  table.OnDelete(Made("a", "1", "G"));
  table.OnChange(Made("c", "1", "G"));
  table.OnChange(json("nonsense"));
  EXPECT_FALSE(table.Find("a"));
  EXPECT_TRUE(table.Find("b"));
  table.OnList(json::array({Made("c", "1", "G")}));
  EXPECT_FALSE(table.Find("b")) << "it went while the watch was down";
  EXPECT_EQ(table.All().size(), 1u);
}

TEST(PodTableTest, WhicheverWasBoundFirstAndHasNoneYetComesFirst) {
  PodTable table;
  table.OnChange(Made("bound first", "2026-01-02", "G1"));
  table.OnChange(Made("made first", "2026-01-01", "G2"));
  EXPECT_THAT(table.AssignedTo(1, {}), ElementsAre("G1"));
  EXPECT_THAT(table.AssignedTo(1, {{"bound first", "main"}}), ElementsAre("G2"));
  EXPECT_THAT(table.AssignedTo(1, {{"bound first", "main"}, {"made first", "main"}}), IsEmpty());
}

TEST(PodTableTest, OfAListWhicheverWasMadeFirst) {
  PodTable table;
  table.OnChange(Made("known", "2026-01-03T00:00:00Z", "G1"));
  table.OnList(json::array({Made("b", "2026-01-02T00:00:00Z", "G3"), Made("a", "2026-01-01T00:00:00Z", "G2"),
                            Made("known", "2026-01-03T00:00:00Z", "G1")}));
  EXPECT_THAT(table.AssignedTo(1, {}), ElementsAre("G1")) << "a list changes nothing of what was known";
  EXPECT_THAT(table.AssignedTo(1, {{"known", "main"}}), ElementsAre("G2"));
}

TEST(PodTableTest, WhatAContainerHadIsRememberedUntilItsPodIsGone) {
  PodTable table;
  table.OnChange(Made("a", "1", "G1"));
  const PodTable::Done had = {{"a", "main"}};
  EXPECT_EQ(table.EverDone(had), had);
  EXPECT_EQ(table.EverDone({}), had) << "the kubelet has forgotten it";
  table.OnDelete(Made("a", "1", "G1"));
  EXPECT_THAT(table.EverDone({}), IsEmpty());
}

TEST(PodTableTest, OthersDoNotCount) {
  PodTable table;
  table.OnChange(Made("two", "1", "G1", 2));
  json over = Made("over", "1", "G2");
  over["status"]["phase"] = "Failed";
  table.OnChange(over);
  json plain = Made("plain", "1", "G3");
  plain["metadata"].erase("annotations");
  table.OnChange(plain);
  EXPECT_THAT(table.AssignedTo(1, {}), IsEmpty());
  EXPECT_THAT(table.AssignedTo(2, {}), ElementsAre("G1"));
}

TEST(PodTableTest, APodThatTheKubeletHeardOfFirstIsWaitedFor) {
  constexpr std::chrono::seconds kLong{60};
  PodTable table;
  table.OnList(json::array({Made("a", "1", "G")}));
  const PodTable::Done done = {{"a", "main"}};
  std::thread later([&table] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    table.OnChange(Made("other", "2", "H", 2));
    table.OnChange(Made("b", "2", "H"));
  });
  table.AwaitOne(1, done, kLong);
  EXPECT_THAT(table.AssignedTo(1, done), ElementsAre("H"));
  later.join();
}

TEST(PodTableTest, NoPodIsWaitedForWhereOneIsKnownNorForLong) {
  PodTable table;
  table.OnList(json::array({Made("a", "1", "G")}));
  table.AwaitOne(1, {}, std::chrono::hours(1));
  table.AwaitOne(1, {{"a", "main"}}, std::chrono::milliseconds(5));
  table.AwaitOne(2, {}, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace crossover::deviceplugin
