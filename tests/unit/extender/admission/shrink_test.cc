// Tests which pods may have compressed reductions, and what their containers load.
#include "extender/admission/shrink.h"

#include <gtest/gtest.h>

#include "extender/admission/rewrite.h"
#include "tests/unit/extender/admission/made_pod.h"

namespace crossover::extender::admission {
namespace {

using nlohmann::json;

constexpr char kBoth[] = "/opt/crossover/libcrossover-shrink.so:/opt/crossover/libcrossover.so";

json PodWith(const char* level, const json& environment = json::array()) {
  json pod = MadePod({{"crossover.dev/share", "true"}, {"crossover.dev/shrink", level}});
  pod["spec"]["containers"][0]["env"] = environment;
  return pod;
}

class ShrinkTest : public ::testing::Test {
 protected:
  Decision Asked(const json& pod) {
    return Rewrite(pod, "team", settings_, [](const std::string&) { return NamespaceLimits(); });
  }
  // Returns the environment of the first container as the API server would store it: {name: value}. Expects
  // that the webhook changes nothing when it is asked about that pod again.
  std::map<std::string, json> Environment(const json& pod) {
    const Decision decision = Asked(pod);
    EXPECT_TRUE(decision.verdict.allowed) << decision.verdict.refusal;
    const json made = pod.patch(decision.verdict.patch);
    EXPECT_TRUE(Asked(made).verdict.patch.empty()) << Asked(made).verdict.patch;
    std::map<std::string, json> environment;
    for (const json& variable : made["spec"]["containers"][0]["env"]) {
      EXPECT_FALSE(environment.contains(variable["name"])) << variable;
      environment[variable["name"]] = variable.value("value", json());
    }
    return environment;
  }
  std::string Refusal(const json& pod) {
    const Decision decision = Asked(pod);
    EXPECT_FALSE(decision.verdict.allowed);
    EXPECT_EQ(decision.outcome, Outcome::kRefused);
    return decision.verdict.refusal;
  }

  RewriteSettings settings_;
};

TEST_F(ShrinkTest, ItsLibraryIsInFrontOfOurs) {
  for (const char* level : {"advise", "bf16", "q8", "adaptive"}) {
    const auto environment = Environment(PodWith(level));
    EXPECT_EQ(environment.at("LD_PRELOAD"), kBoth);
    EXPECT_EQ(environment.at("CROSSOVER_SHRINK"), level);
  }
}

// The level is chosen when the job has its GPUs, and its containers start after that.
TEST_F(ShrinkTest, WithAutoTheLevelComesFromAnAnnotation) {
  const json pod = PodWith("auto", {{{"name", "CROSSOVER_SHRINK_CHOICE"}, {"value", "q8"}}});
  const json made = pod.patch(Asked(pod).verdict.patch);
  std::vector<json> choices;
  for (const json& variable : made["spec"]["containers"][0]["env"]) {
    if (variable["name"] == "CROSSOVER_SHRINK_CHOICE") choices.push_back(variable);
  }
  EXPECT_EQ(Environment(pod).at("CROSSOVER_SHRINK"), "auto");
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0], json::parse(R"({"name": "CROSSOVER_SHRINK_CHOICE", "valueFrom": {"fieldRef":
      {"apiVersion": "v1", "fieldPath": "metadata.annotations['crossover.dev/status-shrink']"}}})"));
  EXPECT_FALSE(Environment(PodWith("q8")).contains("CROSSOVER_SHRINK_CHOICE"));
}

TEST_F(ShrinkTest, WithoutTheOwnersWordAPodStaysAsItWas) {
  const json own = {{{"name", "LD_PRELOAD"}, {"value", "/usr/lib/own.so"}},
                    {{"name", "CROSSOVER_SHRINK"}, {"value", "advise"}}};
  json silent = PodWith("off", own);
  silent["metadata"]["annotations"].erase("crossover.dev/shrink");
  for (const json& pod : {PodWith("off", own), silent}) {
    const auto environment = Environment(pod);
    EXPECT_EQ(environment.at("LD_PRELOAD"), "/usr/lib/own.so");
    EXPECT_EQ(environment.at("CROSSOVER_SHRINK"), "advise");
  }
  EXPECT_FALSE(Environment(PodWith("off")).contains("LD_PRELOAD"));
}

TEST_F(ShrinkTest, WhatTheContainerLoadsItselfComesBehind) {
  const auto preload = [this](const char* theirs) {
    return Environment(PodWith("bf16", {{{"name", "LD_PRELOAD"}, {"value", theirs}}})).at("LD_PRELOAD");
  };
  EXPECT_EQ(preload(""), kBoth);
  EXPECT_EQ(preload("/usr/lib/own.so"), std::string(kBoth) + ":/usr/lib/own.so");
  EXPECT_EQ(preload(" a.so:  b.so :"), std::string(kBoth) + ":a.so:b.so");
  EXPECT_EQ(preload("/opt/crossover/libcrossover.so:a.so"), std::string(kBoth) + ":a.so");
}

TEST_F(ShrinkTest, TheAnnotationCountsAndNotAVariable) {
  const json own = {{{"name", "CROSSOVER_SHRINK"}, {"value", "bf16"}},
                    {{"name", "CROSSOVER_SHRINK"}, {"value", "off"}}};
  EXPECT_EQ(Environment(PodWith("advise", own)).at("CROSSOVER_SHRINK"), "advise");
}

TEST_F(ShrinkTest, ContainersWithoutGpusLoadNothing) {
  json pod = PodWith("bf16");
  pod["spec"]["containers"].push_back({{"name", "logs"}});
  pod["spec"]["initContainers"] = json::array({MadeContainer("first", {{"nvidia.com/gpu", "1"}})});
  const json made = pod.patch(Asked(pod).verdict.patch);
  EXPECT_FALSE(made["spec"]["containers"][1].contains("env"));
  EXPECT_EQ(made["spec"]["initContainers"][0]["env"].back()["value"], kBoth);
}

TEST_F(ShrinkTest, APreloadThatComesFromElsewhereIsRefused) {
  const json elsewhere = {{"configMapKeyRef", {{"name", "a"}, {"key", "b"}}}};
  json pod = PodWith("bf16", {{{"name", "LD_PRELOAD"}, {"valueFrom", elsewhere}}});
  EXPECT_EQ(Refusal(pod),
            "container main: LD_PRELOAD: expected a value, as crossover.dev/shrink puts libraries before it, "
            "got valueFrom");
  pod["metadata"]["annotations"]["crossover.dev/shrink"] = "off";
  EXPECT_TRUE(Asked(pod).verdict.allowed);
  json aside = PodWith("bf16");
  aside["spec"]["containers"].push_back(pod["spec"]["containers"][0]);
  aside["spec"]["containers"][1].erase("resources");
  EXPECT_TRUE(Asked(aside).verdict.allowed) << "it has no GPUs";
}

TEST_F(ShrinkTest, AnAdministratorsWordCounts) {
  settings_.shrink = {"advise"};
  EXPECT_EQ(Environment(PodWith("advise")).at("CROSSOVER_SHRINK"), "advise");
  EXPECT_EQ(Refusal(PodWith("bf16")),
            "crossover.dev/shrink: expected off or advise, as webhook.shrink of the extender says, got bf16");
  settings_.shrink = {"advise", "bf16"};
  EXPECT_TRUE(Asked(PodWith("bf16")).verdict.allowed);
  settings_.shrink = std::vector<std::string>();
  EXPECT_EQ(Refusal(PodWith("advise")),
            "crossover.dev/shrink: expected off, because webhook.shrink of the extender allows no level, got "
            "advise");
  EXPECT_TRUE(Asked(PodWith("off")).verdict.allowed);
}

TEST_F(ShrinkTest, APodThatDoesNotShareIsRefused) {
  json pod = PodWith("bf16");
  pod["metadata"]["annotations"].erase("crossover.dev/share");
  EXPECT_EQ(Refusal(pod),
            "crossover.dev/share: expected true or exclusive, as the pod has crossover.dev/shrink, got none");
  pod["metadata"]["annotations"]["crossover.dev/shrink"] = "off";
  EXPECT_EQ(Asked(pod).outcome, Outcome::kUntouched);
}

TEST_F(ShrinkTest, LevelsThatAreUnknownAreRefusedInWords) {
  EXPECT_EQ(Refusal(PodWith("fp8")),
            "crossover.dev/shrink: expected off, advise, bf16, q8, adaptive or auto, got fp8");
}

}  // namespace
}  // namespace crossover::extender::admission
