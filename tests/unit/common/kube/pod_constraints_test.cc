#include "common/kube/pod_constraints.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::kube {
namespace {

using nlohmann::json;

const Labels kPodLabels = {{"app", "train"}, {"pod-template-hash", "h1"}};

PodConstraints Read(const char* spec) { return PodConstraintsOf(json::parse(spec), kPodLabels); }

HostPort Tcp(int port, const char* ip = "0.0.0.0") { return {.protocol = "TCP", .ip = ip, .port = port}; }

TEST(PodConstraintsTest, PortsOfTheHostCount) {
  const PodConstraints read = Read(R"({
    "initContainers": [
      {"name": "first", "ports": [{"containerPort": 1, "hostPort": 1}]},
      {"name": "beside", "restartPolicy": "Always", "ports": [{"containerPort": 2, "hostPort": 2}]}],
    "containers": [
      {"name": "main", "ports": [{"containerPort": 3}, {"hostPort": 4, "protocol": "UDP", "hostIP": "10.0.0.1"},
                                 {"hostPort": 2}]}]})");
  ASSERT_EQ(read.ports.size(), 2u) << "an init container that ends has its port back; a port counts once";
  EXPECT_EQ(read.ports[0], Tcp(2));
  EXPECT_EQ(read.ports[1], (HostPort{.protocol = "UDP", .ip = "10.0.0.1", .port = 4}));
  EXPECT_TRUE(read.any());
}

TEST(PodConstraintsTest, PortsClashOnOneAddress) {
  EXPECT_TRUE(Clash(Tcp(80), Tcp(80)));
  EXPECT_TRUE(Clash(Tcp(80, "10.0.0.1"), Tcp(80))) << "the other one has all addresses";
  EXPECT_TRUE(Clash(Tcp(80), Tcp(80, "10.0.0.1")));
  EXPECT_FALSE(Clash(Tcp(80, "10.0.0.1"), Tcp(80, "10.0.0.2")));
  EXPECT_FALSE(Clash(Tcp(80), Tcp(81)));
  EXPECT_FALSE(Clash(Tcp(80), {.protocol = "UDP", .ip = "0.0.0.0", .port = 80}));
}

TEST(PodConstraintsTest, RequiredTermsAreReadAndWishesAreNot) {
  const PodConstraints read = Read(R"({"affinity": {
    "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
      {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "train"}}}]},
    "podAntiAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {}, "namespaces": ["a", "b"]},
        {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {}},
        {"topologyKey": "kubernetes.io/hostname", "namespaceSelector": {"matchLabels": {"team": "x"}}}],
      "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "podAffinityTerm": {"topologyKey": "rack"}}]}}})");
  ASSERT_EQ(read.near.size(), 1u);
  EXPECT_EQ(read.near[0].topology, "zone");
  EXPECT_TRUE(Matches(read.near[0].selector, kPodLabels));
  EXPECT_EQ(read.near[0].others, PodTerm::Namespaces::kListed);
  ASSERT_EQ(read.apart.size(), 3u);
  EXPECT_EQ(read.apart[0].namespaces, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(Matches(read.apart[0].selector, {})) << "an empty selector means every pod";
  EXPECT_EQ(read.apart[1].others, PodTerm::Namespaces::kAll);
  EXPECT_FALSE(Matches(read.apart[1].selector, kPodLabels)) << "without a selector it means none";
  EXPECT_EQ(read.apart[2].others, PodTerm::Namespaces::kByLabel);
}

TEST(PodConstraintsTest, SpreadThatIsEnforcedIsRead) {
  const PodConstraints read = Read(R"({"topologySpreadConstraints": [
    {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1},
    {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 2, "minDomains": 3,
     "labelSelector": {"matchLabels": {"app": "train"}}, "matchLabelKeys": ["pod-template-hash", "none"],
     "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor"},
    {"topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}]})");
  ASSERT_EQ(read.spread.size(), 2u);
  const Spread& zone = read.spread[0];
  EXPECT_EQ(zone.topology, "zone");
  EXPECT_EQ(zone.max_skew, 2);
  EXPECT_EQ(zone.min_domains, 3);
  EXPECT_TRUE(Matches(zone.selector, kPodLabels));
  EXPECT_FALSE(Matches(zone.selector, {{"app", "train"}, {"pod-template-hash", "h2"}}));
  EXPECT_FALSE(zone.heeds_selection);
  EXPECT_TRUE(zone.heeds_taints);
  EXPECT_EQ(read.spread[1].min_domains, 1);
  EXPECT_TRUE(read.spread[1].heeds_selection);
  EXPECT_FALSE(read.spread[1].heeds_taints);
  EXPECT_FALSE(Matches(read.spread[1].selector, kPodLabels)) << "without a selector it counts no pod";
}

TEST(PodConstraintsTest, WhatIsMalformedCountsAsNotSet) {
  for (const char* spec :
       {"null", "[]", "7", "{}", R"({"containers": 3, "affinity": [], "topologySpreadConstraints": "x"})",
        R"({"containers": [{"ports": [{"hostPort": 0}, {"hostPort": 65536}, {"hostPort": -1},
                                      {"hostPort": "80"}, {"hostPort": 1e300}, 4]}]})",
        R"({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
              {"labelSelector": {}}, {"topologyKey": 3}, null]}}})",
        R"({"topologySpreadConstraints": [
              {"whenUnsatisfiable": "DoNotSchedule", "topologyKey": "zone"},
              {"whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1},
              {"whenUnsatisfiable": "DoNotSchedule", "topologyKey": "zone", "maxSkew": -4}]})"}) {
    EXPECT_FALSE(Read(spec).any()) << spec;
  }
}

}  // namespace
}  // namespace crossover::kube
