#include "extender/scheduler/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/files/read_file.h"
#include "tests/unit/common/kube/golden_slots.h"

namespace crossover::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string_view>;

std::string Sample(const std::string& name) {
  std::string error;
  const auto text = files::ReadFile(SAMPLES "/" + name + ".json", &error);
  EXPECT_TRUE(text) << error;
  return text.value_or("");
}

constexpr char kPod[] = R"("Pod":{"metadata":{"uid":"u","namespace":"n","name":"p"}})";
std::string With(const std::string& more) { return "{" + (kPod + ("," + more)) + "}"; }

TEST(Wire, ReadsWhatASchedulerAsksOfNodes) {
  for (const char* sample : {"ext_filter_request", "ext_prioritize_request"}) {
    ArgsParser reader;
    std::string error;
    const auto question = reader.Nodes(Sample(sample), &error);
    ASSERT_TRUE(question) << error;
    EXPECT_EQ(question->pod.uid, "8feb1419-e31d-4cef-815a-c9a4750ecffe");
    EXPECT_EQ(question->pod.name_space, "default");
    EXPECT_EQ(question->pod.name, "train-0");
    EXPECT_THAT(question->nodes, ElementsAre("n1", "n2", "n3"));
  }
}

TEST(Wire, WhichPodsAskForSlots) {
  for (const kube::GoldenSlots& golden : kube::kGoldenSlots) {
    ArgsParser reader;
    std::string error;
    const nlohmann::json asked = {{"Pod", kube::PodWith(golden)}, {"NodeNames", {"n1"}}};
    const auto question = reader.Nodes(asked.dump(), &error);
    ASSERT_TRUE(question) << error;
    EXPECT_EQ(question->pod.slots, golden.slots > 0) << golden.resources;
  }
}

TEST(Wire, ReadsWhichNodeASchedulerTriesAlone) {
  ArgsParser reader;
  std::string error;
  const std::string pod =
      R"({"Pod":{"metadata":{"uid":"u","namespace":"n","name":"p"}%},"NodeNames":["n1"]})";
  const auto nominated = [&](const std::string& status) {
    const auto question = reader.Nodes(std::string(pod).replace(pod.find('%'), 1, status), &error);
    EXPECT_TRUE(question) << error;
    return question ? question->pod.nominated : "nothing";
  };
  EXPECT_EQ(nominated(R"(,"status":{"nominatedNodeName":"n1"})"), "n1");
  EXPECT_EQ(nominated(R"(,"status":{"nominatedNodeName":7})"), "");
  EXPECT_EQ(nominated(R"(,"status":{})"), "");
  EXPECT_EQ(nominated(""), "");
}

TEST(Wire, ReadsWhatASchedulerBinds) {
  ArgsParser reader;
  std::string error;
  const auto question = reader.Bind(Sample("ext_bind_request"), &error);
  ASSERT_TRUE(question) << error;
  EXPECT_EQ(question->pod.uid, "8feb1419-e31d-4cef-815a-c9a4750ecffe");
  EXPECT_EQ(question->pod.name_space, "default");
  EXPECT_EQ(question->pod.name, "train-0");
  EXPECT_EQ(question->node, "n2");
}

TEST(Wire, ReadsWhomASchedulerWouldEvict) {
  ArgsParser reader;
  std::string error;
  const auto question = reader.Preempt(Sample("ext_preempt_request"), &error);
  ASSERT_TRUE(question) << error;
  EXPECT_EQ(question->pod.name, "hi");
  ASSERT_EQ(question->by_node.size(), 3u);
  EXPECT_THAT(question->by_node.at("n2").uids,
              ElementsAre("4151e845-0b3b-40b9-abdc-aaaeefa5f13f", "76ab8f74-df0c-490a-b59a-9b8ea7cc5df0"));
}

TEST(Wire, NodesThatAreSentWholeAreRefusedWithTheSetting) {
  ArgsParser reader;
  std::string error;
  EXPECT_FALSE(reader.Nodes(Sample("ext_filter_request_nodecache_false"), &error));
  EXPECT_THAT(error, HasSubstr("nodeCacheCapable: true"));
  EXPECT_FALSE(reader.Preempt(With(R"("NodeNameToVictims":{"n":{"Pods":[]}})"), &error));
  EXPECT_THAT(error, HasSubstr("nodeCacheCapable: true"));
}

TEST(Wire, NullIsNone) {
  ArgsParser reader;
  std::string error;
  EXPECT_TRUE(reader.Nodes(With(R"("Nodes":null,"NodeNames":null)"), &error)->nodes.empty());
  EXPECT_TRUE(reader.Preempt(With(R"("NodeNameToMetaVictims":null)"), &error)->by_node.empty());
  EXPECT_TRUE(reader.Preempt(With(R"("NodeNameToMetaVictims":{"n":{"Pods":null}})"), &error)
                  ->by_node.at("n")
                  .uids.empty());
}

TEST(Wire, WhatIsNotAllowedIsNamed) {
  const auto fault = [](const std::string& text) {
    ArgsParser reader;
    std::string error;
    EXPECT_FALSE(reader.Nodes(text, &error)) << text;
    return error;
  };
  EXPECT_THAT(fault(""), HasSubstr("not JSON"));
  EXPECT_THAT(fault("{"), HasSubstr("not JSON"));
  EXPECT_THAT(fault(std::string(100'000, '[')), HasSubstr("not JSON"));
  EXPECT_EQ(fault("[]"), "the text: expected an object, got a list");
  EXPECT_EQ(fault("{}"), "Pod: expected a pod with metadata, got none");
  EXPECT_EQ(fault(R"({"Pod":{"metadata":{}}})"),
            "Pod.metadata.uid: expected a text that is not empty, got nothing");
  EXPECT_EQ(fault(R"({"Pod":{"metadata":{"uid":7}}})"),
            "Pod.metadata.uid: expected a text that is not empty, got a number");
  EXPECT_EQ(fault(R"({"Pod":{"metadata":{"uid":""}}})"),
            "Pod.metadata.uid: expected a text that is not empty, got an empty text");
  EXPECT_EQ(fault(With(R"("NodeNames":{})")), "NodeNames: expected a list of names, got an object");
  EXPECT_EQ(fault(With(R"("NodeNames":["a",null])")), "NodeNames: expected a list of names, got null");
}

TEST(Wire, BindingsAndVictimsThatAreNoneAreNamed) {
  ArgsParser reader;
  std::string error;
  EXPECT_FALSE(reader.Bind(R"({"PodUID":"u","PodNamespace":"n","PodName":"p"})", &error));
  EXPECT_EQ(error, "Node: expected a text that is not empty, got nothing");
  EXPECT_FALSE(reader.Preempt(With(R"("NodeNameToMetaVictims":{"n":{"Pods":[{"UID":3}]}})"), &error));
  EXPECT_EQ(error, "NodeNameToMetaVictims.n.Pods.UID: expected a text that is not empty, got a number");
  EXPECT_FALSE(reader.Preempt(With(R"("NodeNameToMetaVictims":{"n":[]})"), &error));
  EXPECT_EQ(error, "NodeNameToMetaVictims.n: expected Pods and NumPDBViolations, got a list");
}

TEST(Wire, WhereANodeIsLeftTheOthersReasonsAreLeftOut) {
  EXPECT_EQ(FilterText({.nodes = {"b", "never asked about"},
                        .failed = {{"c", "full"}},
                        .unresolvable = {{"d", "cordoned"}},
                        .others = "the gang's node is another"},
                       Names{"a", "b", "c", "d"}),
            R"({"NodeNames":["b"],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST(Wire, WhereNoneIsLeftEveryNodeThatWasAskedAboutHasItsReason) {
  const Names asked = {"a", "b", "c", "d"};
  const auto json = nlohmann::json::parse(FilterText({.nodes = {"never asked about"},
                                                      .failed = {{"c", "full"}, {"x", "y"}},
                                                      .unresolvable = {{"d", "cordoned"}},
                                                      .others = "the gang's node is another"},
                                                     asked));
  EXPECT_EQ(json, nlohmann::json::parse(R"({"NodeNames":[],"FailedNodes":{"c":"full"},
      "FailedAndUnresolvableNodes":{"a":"the gang's node is another","b":"the gang's node is another",
                                    "d":"cordoned"},"Error":""})"));
}

// A scheduler reads null as no nodes at all, without a reason.
TEST(Wire, NoNodesAreAnEmptyList) {
  EXPECT_EQ(FilterText({}, {}),
            R"({"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
  EXPECT_EQ(nlohmann::json::parse(FilterErrorText("not \"now\"\n"))["Error"], "not \"now\"\n");
  EXPECT_EQ(nlohmann::json::parse(FilterErrorText(""))["NodeNames"], nlohmann::json::array());
}

TEST(Wire, ScoresAreBetweenZeroAndTen) {
  const Names asked = {"a", "b", "c", "d"};
  const std::vector<int> scores = {11, -1, 7};
  EXPECT_EQ(
      PrioritizeText(scores, asked),
      R"([{"Host":"a","Score":10},{"Host":"b","Score":0},{"Host":"c","Score":7},{"Host":"d","Score":0}])");
  EXPECT_EQ(PrioritizeText({}, {}), "[]");
}

TEST(Wire, OtherAnswers) {
  EXPECT_EQ(BindText(""), R"({"Error":""})");
  EXPECT_EQ(nlohmann::json::parse(BindText("a\\b\x01")).at("Error"), "a\\b\x01");
  EXPECT_EQ(PreemptText({{"a", {.uids = {"u", "v"}, .disruption_budgets_violated = 2}}, {"b", {}}}),
            R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u"},{"UID":"v"}],"NumPDBViolations":2}}})");
  EXPECT_EQ(PreemptText({}), R"({"NodeNameToMetaVictims":{}})");
}

}  // namespace
}  // namespace crossover::extender
