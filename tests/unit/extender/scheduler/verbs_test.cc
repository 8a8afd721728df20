#include "extender/scheduler/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

namespace crossover::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Takes the second node that it is asked about, and holds binds until the test answers them.
class FakeDecider : public SchedulerExtender {
 public:
  std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes) override {
    asked.push_back(pod.name);
    if (ends_lead) ends_lead();
    if (knows_nothing) return std::nullopt;
    if (nodes.size() < 2)
      return FilterAnswer{.nodes = {}, .failed = failed, .unresolvable = {}, .others = "waits"};
    return FilterAnswer{.nodes = {std::string(nodes[1])},
                        .failed = {},
                        .unresolvable = {},
                        .others = "another node is planned"};
  }
  std::vector<int> Prioritize(const PodRef&, std::span<const std::string_view> nodes) override {
    return std::vector<int>(nodes.size(), 4);
  }
  void Bind(const PodRef& pod, const std::string& node, Done done) override {
    asked.push_back(pod.uid + " to " + node);
    held.push_back(std::move(done));
  }
  std::map<std::string, Victims> Preempt(const PodRef&, std::map<std::string, Victims> by_node) override {
    by_node.erase("n1");
    return by_node;
  }

  bool knows_nothing = false;
  std::function<void()> ends_lead;  // called while a filter is decided; may be null
  std::map<std::string, std::string> failed;
  std::vector<std::string> asked;
  std::vector<Done> held;
};

class Record : public VerbObserver {
 public:
  void OnAnswered(std::string_view verb, std::string_view outcome, double seconds) override {
    EXPECT_GE(seconds, 0);
    outcomes.push_back(std::string(verb) + " " + std::string(outcome));
  }
  std::vector<std::string> outcomes;
};

class VerbsTest : public ::testing::Test {
 protected:
  static constexpr char kPod[] = R"("Pod":{"metadata":{"uid":"u","namespace":"n","name":"p"}})";
  static std::string About(const std::string& nodes) {
    return "{" + (kPod + (R"(,"NodeNames":)" + nodes)) + "}";
  }

  // Returns nothing if the verb is not answered yet. `last` gets the answer when it comes.
  std::optional<HttpAnswer> Ask(const std::string& verb, const std::string& body,
                                const std::string& method = "POST") {
    const auto answer = std::make_shared<std::optional<HttpAnswer>>();
    verbs.Handlers().at("/" + verb)(
        {.method = method, .path = "/" + verb, .query = {}, .body = body, .authorization = {}},
        [answer](HttpAnswer given) { *answer = std::move(given); });
    last = answer;
    return *answer;
  }
  nlohmann::json Said(const std::string& verb, const std::string& body) {
    const auto answer = Ask(verb, body);
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    return nlohmann::json::parse(answer->body);
  }

  FakeDecider decider;
  Record record;
  bool leads = true;
  Verbs verbs{&decider, [this] { return leads; }, &record};
  std::shared_ptr<std::optional<HttpAnswer>> last;
};

TEST_F(VerbsTest, FilterAndPrioritizeAreDecidedAndCounted) {
  const auto answer = Said("filter", About(R"(["n1","n2"])"));
  EXPECT_EQ(answer["NodeNames"], nlohmann::json::array({"n2"}));
  EXPECT_EQ(Said("filter", About(R"(["n1"])"))["FailedAndUnresolvableNodes"]["n1"], "waits");
  decider.failed = {{"n1", "its CPU is taken"}};
  EXPECT_EQ(Said("filter", About(R"(["n1"])"))["FailedNodes"]["n1"], "its CPU is taken");
  EXPECT_EQ(Said("prioritize", About(R"(["n1"])")), nlohmann::json::parse(R"([{"Host":"n1","Score":4}])"));
  EXPECT_THAT(record.outcomes,
              ElementsAre("filter placed", "filter unresolvable", "filter failed", "prioritize scored"));
}

TEST_F(VerbsTest, ABindIsAnsweredWhenItIsDone) {
  const std::string body = R"({"PodName":"p","PodNamespace":"n","PodUID":"u","Node":"n2"})";
  EXPECT_FALSE(Ask("bind", body));
  const auto first = last;
  EXPECT_FALSE(Ask("bind", body));
  EXPECT_THAT(decider.asked, ElementsAre("u to n2", "u to n2"));
  decider.held[0]("");
  decider.held[1]("the gang did not come");
  EXPECT_EQ((*first)->body, R"({"Error":""})");
  EXPECT_EQ((*last)->body, R"({"Error":"the gang did not come"})");
  EXPECT_THAT(record.outcomes, ElementsAre("bind bound", "bind refused"));
}

// The object that decides lives longer than the verbs, and it may answer a bind at its end.
TEST_F(VerbsTest, AHeldBindMayBeAnsweredThoughTheVerbsAreGone) {
  auto gone = std::make_unique<Verbs>(
      &decider, [] { return true; }, &record);
  std::optional<HttpAnswer> told;
  HttpRequest request;
  request.method = "POST";
  request.body = R"({"PodName":"p","PodNamespace":"n","PodUID":"u","Node":"n2"})";
  gone->Handlers().at("/bind")(request, [&told](const HttpAnswer& answer) { told = answer; });
  gone.reset();
  decider.held[0]("it ends");
  EXPECT_EQ(told->body, R"({"Error":"it ends"})");
}

TEST_F(VerbsTest, VictimsThatHoldPartOfAGangAreSpared) {
  const auto answer =
      Said("preempt",
           "{" + std::string(kPod) +
               R"(,"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"a"}]},"n2":{"Pods":[{"UID":"b"}]}}})");
  EXPECT_EQ(answer["NodeNameToMetaVictims"].size(), 1u);
  EXPECT_EQ(answer["NodeNameToMetaVictims"]["n2"]["Pods"][0]["UID"], "b");
}

TEST_F(VerbsTest, AnExtenderThatDoesNotLeadDecidesNothing) {
  leads = false;
  for (const char* verb : {"filter", "prioritize", "bind", "preempt"})
    EXPECT_EQ(Ask(verb, "{}")->status, 503);
  EXPECT_TRUE(decider.asked.empty());
  leads = true;
  Verbs standby(
      nullptr, [] { return true; }, &record);
  int status = 0;
  standby.Handlers().at("/filter")(
      {.method = "POST", .path = "/filter", .query = {}, .body = "{}", .authorization = {}},
      [&status](const HttpAnswer& answer) { status = answer.status; });
  EXPECT_EQ(status, 503);
  EXPECT_THAT(record.outcomes, ::testing::Each(HasSubstr(" away")));
}

TEST_F(VerbsTest, AReplicaThatLeadsAndDoesNotKnowThePodSaysSo) {
  decider.knows_nothing = true;
  const auto unknown = Ask("filter", About("[]"));
  EXPECT_EQ(unknown->status, 503);
  EXPECT_EQ(unknown->body, "this replica does not know the cluster or the pod yet\n");
  decider.ends_lead = [this] { leads = false; };
  const auto away = Ask("filter", About("[]"));
  EXPECT_EQ(away->status, 503);
  EXPECT_EQ(away->body, "this replica does not lead\n") << "its lead ended while it was asked";
  EXPECT_THAT(record.outcomes, ElementsAre("filter unknown", "filter away"));
}

TEST_F(VerbsTest, WhatMakesNoSenseIsToldInTheSchedulersMessage) {
  EXPECT_THAT(std::string(Said("filter", "{")["Error"]), HasSubstr("crossover-extender: filter: not JSON"));
  EXPECT_THAT(std::string(Said("bind", "{}")["Error"]),
              HasSubstr("bind: PodUID: expected a text that is not empty, got nothing"));
  EXPECT_EQ(Ask("prioritize", "{")->status, 400);
  EXPECT_EQ(Ask("preempt", "{")->status, 400);
  EXPECT_EQ(Ask("filter", "{}", "GET")->status, 405);
  EXPECT_THAT(record.outcomes, ::testing::Each(HasSubstr(" malformed")));
}

}  // namespace
}  // namespace crossover::extender
