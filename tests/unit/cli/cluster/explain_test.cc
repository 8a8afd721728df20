#include "cli/cluster/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cli/render/yaml.h"
#include "tests/unit/cli/cluster/sound_cluster.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

json Event(const char* reason, const char* note, const char* at,
           const char* reporter = "crossover.dev/extender") {
  return {{"regarding", {{"kind", "Pod"}, {"namespace", "team"}, {"name", "a-0"}, {"uid", "uid-of-a-0"}}},
          {"reason", reason},
          {"note", note},
          {"eventTime", at},
          {"reportingController", reporter}};
}

TEST(ExplainTest, APodThatRunsSaysBesideWhomAndWhatItGains) {
  ClusterFacts facts = SoundCluster();
  json& status = facts.lists["gpu_nodes"][0]["status"];
  status["jobs"] = {{{"gang", "team/a"},
                     {"computeSeconds", 0.02},
                     {"exposedSeconds", 0.012},
                     {"stepAloneSeconds", 0.032},
                     {"source", "measured"},
                     {"meetings", {{{"beside", {{{"gang", "team/b"}}}}, {"gain", 1.58}}}}}};
  status["gpus"][0]["noTurns"] = "a reason";
  const json pods = json::array({facts.lists["pods"][0]});
  const std::string text = ExplanationText(ExplainPods(pods, json::array(), facts.lists["gpu_nodes"]));
  EXPECT_EQ(text,
            "pod team/a-0 runs on n1\n"
            "  GPU-1, beside team/b\n"
            "    no turns: a reason\n"
            "gang team/a\n"
            "  on n1: compute 20.0 ms, exposed communication 12.0 ms, an iteration alone 32.0 ms (measured)\n"
            "  gained 1.58x beside team/b\n");
}

TEST(ExplainTest, APodSaysWhichCompressionItsOwnerAsksFor) {
  json pod = SoundCluster().lists.at("pods")[0];
  const auto text = [&pod](const char* level) {
    pod["metadata"]["annotations"]["crossover.dev/shrink"] = level;
    return ExplanationText(ExplainPods(json::array({pod}), json::array(), json::array()));
  };
  EXPECT_THAT(text("bf16"), HasSubstr("\n  reductions: bf16 is asked for; where they are plain, an event "
                                      "ReductionsPlain of the pod says why\n"));
  EXPECT_THAT(text("off"), Not(HasSubstr("reductions")));
  pod["metadata"]["annotations"]["crossover.dev/status-shrink"] = "q8";
  pod["metadata"]["annotations"]["crossover.dev/status-shrink-why"] = "it waits for 30 ms";
  EXPECT_THAT(text("auto"),
              HasSubstr("\n  reductions: auto is asked for, and the extender chose q8: it waits "
                        "for 30 ms; where they are plain, an event"));
}

TEST(ExplainTest, AGangSaysWhatItsProfileKnowsOfItsCalls) {
  const ClusterFacts facts = SoundCluster();
  json pod = facts.lists.at("pods")[0];
  pod["metadata"]["annotations"]["crossover.dev/profile-key"] = "k";
  const json communication = json::parse(R"({"pods": 2, "runs": 2, "groups": [
      {"function": "AllReduce", "members": [0, 1], "bytes": 2048}]})");
  const json of_key = {{"metadata", {{"name", "k-1"}, {"namespace", "team"}}},
                       {"spec", {{"key", "k"}}},
                       {"status", {{"communication", communication}}}};
  json of_another = of_key;
  of_another["spec"]["key"] = "l";
  const auto explain = [&](const json& profiles) {
    json explanation = ExplainPods(json::array({pod}), json::array(), facts.lists.at("gpu_nodes"));
    ExplainCommunication(json::array({pod}), profiles, &explanation);
    return explanation;
  };
  const json explanation = explain(json::array({7, of_another, of_key}));
  EXPECT_EQ(explanation["communication"]["team/a"], communication) << "as it is";
  EXPECT_THAT(ExplanationText(explanation),
              HasSubstr("gang team/a\n  communication, in 2 runs (data parallel): AllReduce of 2.0 KiB over "
                        "pods 0-1; pods are placed by it\n"));
  EXPECT_FALSE(explain(json::array({of_another})).contains("communication"));
  EXPECT_FALSE(explain(json::array()).contains("communication"));
}

TEST(ExplainTest, AGangOverRacksThatNoLabelNamesIsTold) {
  ClusterFacts facts = SoundCluster();
  facts.lists["gpu_nodes"][1]["status"]["gpus"][0]["holders"] =
      json::array({HolderOf("a-1", "team/a", "GPU-2::0")});
  const auto text = [&facts](const json& pod) {
    json explanation = ExplainPods(json::array({pod}), json::array(), facts.lists["gpu_nodes"]);
    ExplainDomains(facts, &explanation);
    return ExplanationText(explanation);
  };
  EXPECT_THAT(
      text(facts.lists["pods"][0]),
      HasSubstr("gang team/a on 2 nodes: no label of gangs.topology says which of these nodes are near each "
                "other: label the nodes"));
  EXPECT_THAT(text(facts.lists["pods"][1]), Not(HasSubstr("gangs.topology"))) << "it is on one node";
  for (std::size_t node = 0; node < 2; ++node)
    facts.lists["nodes"][node]["metadata"]["labels"]["example.com/rack"] = "r" + std::to_string(node);
  EXPECT_THAT(text(facts.lists["pods"][0]), Not(HasSubstr("gangs.topology")));
}

TEST(ExplainTest, APodThatWaitsSaysForWhatInTheWordsThatWereLast) {
  json pod = Pod("a-0", "");
  pod["spec"].erase("nodeName");
  pod["spec"]["schedulingGates"] = {{{"name", "crossover.dev/gang"}}};
  pod["status"] = {{"phase", "Pending"}};
  json of_another = Event("GangWaits", "of a pod of the same name before it", "2027-01-15T07:59:30Z");
  of_another["regarding"]["uid"] = "another";
  const json events = {Event("GangWaits", "no GPUs are free", "2027-01-15T07:58:00.5Z"),
                       Event("GangWaits", "no node has 4 GPUs", "2027-01-15T07:59:00Z"), of_another,
                       Event("Pulled", "an image", "2027-01-15T07:59:10Z", "kubelet")};
  const json explained = ExplainPods(json::array({pod}), events, json::array());
  EXPECT_EQ(explained["pods"][0]["state"], "waits for a place for its whole gang");
  EXPECT_EQ(explained["pods"][0]["why"], "no node has 4 GPUs");
  EXPECT_EQ(explained["pods"][0]["events"].size(), 2u) << "neither others' nor another pod's";
  pod["metadata"]["annotations"]["crossover.dev/reservation"] = "{}";
  EXPECT_EQ(ExplainPods(json::array({pod}), events, json::array())["pods"][0]["state"],
            "has a place, and waits to be bound there with its whole gang");
  pod["metadata"]["annotations"]["crossover.dev/reservation"] = R"({"claim": "e-1"})";
  EXPECT_EQ(ExplainPods(json::array({pod}), events, json::array())["pods"][0]["state"],
            "has GPUs reserved, and waits until jobs of lower priority have left these GPUs");
}

TEST(ExplainTest, WithoutEventsTheSchedulersConditionHasToDo) {
  json pod = Pod("a-0", "");
  pod["spec"].erase("nodeName");
  pod["status"] = {
      {"phase", "Pending"},
      {"conditions",
       {{{"type", "PodScheduled"}, {"status", "False"}, {"message", "0/2 nodes are available"}}}}};
  EXPECT_EQ(ExplainPods(json::array({pod}), json::array(), json::array())["pods"][0]["why"],
            "0/2 nodes are available");
}

TEST(ExplainTest, APodThatDoesNotShareIsNoneOfOurs) {
  const json pod = {{"metadata", {{"name", "web"}, {"namespace", "team"}}}, {"spec", json::object()}};
  EXPECT_THAT(ExplanationText(ExplainPods(json::array({pod}), json::array(), json::array())),
              HasSubstr("not managed by Crossover"));
}

TEST(ExplainTest, AGangIsFoundByAnyOfItsNames) {
  ClusterFacts facts = SoundCluster();
  const json& nodes = facts.lists["gpu_nodes"];
  EXPECT_EQ(PodsOfGang(facts.lists["pods"], nodes, "a").size(), 1u);
  EXPECT_EQ(PodsOfGang(facts.lists["pods"], nodes, "team/a").size(), 1u);
  EXPECT_EQ(PodsOfGang(facts.lists["pods"], nodes, "other/a").size(), 0u);
  facts.lists["pods"][1]["metadata"]["ownerReferences"] = {{{"name", "job-b"}}};
  EXPECT_EQ(PodsOfGang(facts.lists["pods"], json::array(), "job-b").size(), 1u) << "before a node knows it";
  facts.lists["pods"][0]["metadata"]["annotations"]["crossover.dev/gang"] = "mine";
  EXPECT_EQ(PodsOfGang(facts.lists["pods"], json::array(), "mine").size(), 1u);
}

// No node knows these gangs yet, and the pods' owners have other names than the gangs.
TEST(ExplainTest, AGangThatWaitsIsFoundByWhatIsBehindItsPods) {
  struct Maker {
    const char* gang;
    const char* owner;
    std::map<std::string, std::string> labels;
  };
  const std::vector<Maker> makers = {
      {"set",
       "set-workers-0",
       {{"jobset.sigs.k8s.io/jobset-name", "set"}, {"batch.kubernetes.io/job-name", "set-workers-0"}}},
      {"serve-1",
       "serve",
       {{"leaderworkerset.sigs.k8s.io/name", "serve"}, {"leaderworkerset.sigs.k8s.io/group-index", "1"}}},
      {"group", "", {{"kueue.x-k8s.io/pod-group-name", "group"}}},
      {"mpi",
       "mpi-launcher",
       {{"training.kubeflow.org/job-name", "mpi"}, {"batch.kubernetes.io/job-name", "mpi-launcher"}}},
      {"job", "job", {{"batch.kubernetes.io/job-name", "job"}}},
  };
  for (const Maker& maker : makers) {
    SCOPED_TRACE(maker.gang);
    json pod = Pod("a-0", "");
    pod["spec"].erase("nodeName");
    pod["metadata"]["labels"].update(maker.labels);
    if (*maker.owner != '\0') pod["metadata"]["ownerReferences"] = {{{"name", maker.owner}}};
    const json pods = json::array({pod, Pod("b-0", "")});
    const std::string name = maker.gang;
    EXPECT_EQ(PodsOfGang(pods, json::array(), name), json::array({pod}));
    EXPECT_EQ(PodsOfGang(pods, json::array(), "team/" + name), json::array({pod}));
    EXPECT_EQ(PodsOfGang(pods, json::array(), "other/" + name), json::array());
    if (*maker.owner != '\0') {
      EXPECT_EQ(PodsOfGang(pods, json::array(), maker.owner), json::array({pod}));
    }
    pod["metadata"]["annotations"]["crossover.dev/gang"] = "mine";
    EXPECT_EQ(PodsOfGang(json::array({pod}), json::array(), name), json::array()) << "it says itself";
    EXPECT_EQ(PodsOfGang(json::array({pod}), json::array(), "mine"), json::array({pod}));
  }
}

TEST(YamlTest, IsReadAsWhatItWas) {
  const json value =
      json::parse(R"({"a": [1, {"b": "no", "c": []}, [2, 3]], "d": {}, "e": null, "f": {"g: h": 0.5}})");
  EXPECT_EQ(Yaml(value),
            "\"a\":\n  - 1\n  - \"b\": \"no\"\n    \"c\": []\n  - - 2\n    - 3\n\"d\": {}\n\"e\": null\n"
            "\"f\":\n  \"g: h\": 0.5\n");
  EXPECT_EQ(Yaml(json::array()), "[]\n");
}

}  // namespace
}  // namespace crossover::cli
