// Plants a secret in each place that a bundle has to be without, and checks what has to stay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/cluster/bundle.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kSecret[] = "hunter2";

struct Place {
  const char* pointer;
  json value = kSecret;
};

// Returns the places as pointers into a list of one object.
const std::vector<Place>& Places() {
  static const std::vector<Place> places = {
      {"/0/metadata/annotations/token"},
      {"/0/metadata/annotations/example.com~1token"},
      {"/0/metadata/annotations/example.k8s.io~1token"},
      {"/0/metadata/annotations/notkubernetes.io~1token"},
      {"/0/metadata/annotations/kubernetes.io.example.com~1token"},
      {"/0/metadata/annotations/example.com~1kubernetes.io~1token"},
      {"/0/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"},
      {"/0/metadata/annotations/kubernetes.io~1change-cause"},
      {"/0/metadata/annotations/kubernetes.io~1description"},
      {"/0/metadata/labels/team"},
      {"/0/metadata/managedFields", json::array({kSecret})},
      {"/0/spec/nodeSelector/team"},
      {"/0/spec/affinity/podAffinity/x/0/labelSelector/matchLabels/team"},
      {"/0/spec/affinity/podAffinity/x/0/labelSelector/matchExpressions",
       {{{"key", "team"}, {"operator", "In"}, {"values", {kSecret}}}}},
      {"/0/spec/containers/0/env", {{{"name", "TOKEN"}, {"value", kSecret}}}},
      {"/0/spec/containers/0/command", {"sh", "-c", kSecret}},
      {"/0/spec/containers/0/args", {kSecret}},
      {"/0/spec/initContainers/0/args", {kSecret}},
      {"/0/spec/ephemeralContainers/0/args", {kSecret}},
      {"/0/spec/containers/0/livenessProbe/exec/command", {kSecret}},
      {"/0/spec/containers/0/livenessProbe/httpGet/httpHeaders",
       {{{"name", "Authorization"}, {"value", kSecret}}}},
      {"/0/spec/containers/0/readinessProbe/httpGet/path"},
      {"/0/spec/containers/0/startupProbe/httpGet/host"},
      {"/0/spec/containers/0/lifecycle/preStop/exec/command", {kSecret}},
      {"/0/spec/containers/0/lifecycle/postStart/httpGet/httpHeaders",
       {{{"name", "Authorization"}, {"value", kSecret}}}},
      {"/0/spec/volumes/0/csi/volumeAttributes/password"},
      {"/0/spec/volumes/0/flexVolume/options/password"},
      {"/0/spec/volumes/0/gitRepo/repository"},
      {"/0/spec/volumes/0/ephemeral/volumeClaimTemplate/metadata/annotations/a"},
      {"/0/spec/template/spec/containers/0/env", {{{"name", "TOKEN"}, {"value", kSecret}}}},
      {"/0/spec/template/metadata/annotations/token"},
      {"/0/status/containerStatuses/0/lastState/terminated/message"},
      {"/0/status/containerStatuses/0/state/waiting",
       {{"reason", "PostStartHookError"}, {"message", kSecret}}},
      {"/0/spec/podMetricsEndpoints/0/params/token", {kSecret}},
      {"/0/spec/podMetricsEndpoints/0/oauth2/endpointParams/token"},
      {"/0/spec/podMetricsEndpoints/0/proxyUrl"},
      {"/0/spec/selector/matchLabels/team"},
  };
  return places;
}

json Planted(const Place& place) {
  json items = json::array();
  items[json::json_pointer(place.pointer)] = place.value;
  return items;
}

TEST(RedactedTest, NoSecretStays) {
  for (const Place& place : Places()) {
    const json items = Planted(place);
    ASSERT_THAT(items.dump(), HasSubstr(kSecret)) << "the control";
    EXPECT_THAT(Redacted(items).dump(), Not(HasSubstr(kSecret))) << place.pointer;
  }
}

TEST(RedactedTest, WhatWasTakenOutIsNamed) {
  const json redacted =
      Redacted(Planted({"/0/spec/containers/0/env", {{{"name", "TOKEN"}, {"value", kSecret}}}}));
  EXPECT_EQ(redacted.at(json::json_pointer("/0/spec/containers/0/env/0")),
            json({{"name", "TOKEN"}, {"value", "(removed)"}}));
}

TEST(RedactedTest, KnownKeysStay) {
  for (const char* key :
       {"crossover.dev/gang", "nvidia.com/gpu.present", "kubernetes.io/hostname",
        "app.kubernetes.io/component", "feature.node.kubernetes.io/pci-10de.present",
        "jobset.sigs.k8s.io/jobset-name", "kueue.x-k8s.io/queue-name", "scheduling.k8s.io/group-name"}) {
    const json items = {
        {{"metadata", {{"annotations", {{key, "x"}}}, {"labels", {{key, "x"}}}}},
         {"spec",
          {{"nodeSelector", {{key, "x"}}},
           {"selector",
            {{"matchLabels", {{key, "x"}}}, {"matchExpressions", {{{"key", key}, {"values", {"x"}}}}}}}}}}};
    EXPECT_EQ(Redacted(items), items) << key;
  }
}

TEST(RedactedTest, WhatHelpsToUnderstandStays) {
  const json items = json::parse(R"([{
      "metadata": {"name": "a", "namespace": "team", "ownerReferences": [{"kind": "Job", "name": "j"}]},
      "spec": {
        "nodeName": "n1", "hostPID": true,
        "tolerations": [{"key": "team", "value": "x"}],
        "volumes": [{"name": "v", "hostPath": {"path": "/run"}}, {"name": "s", "secret": {"secretName": "s"}}],
        "containers": [{
          "name": "main", "image": "r.example/a:1",
          "resources": {"limits": {"crossover.dev/slot": "1"}},
          "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
          "readinessProbe": {"httpGet": {"port": 8080, "scheme": "HTTP"}, "periodSeconds": 10}}],
        "podMetricsEndpoints": [{"port": "metrics", "honorLabels": true}]},
      "status": {
        "conditions": [{"type": "PodScheduled", "message": "0/3 nodes are available"}],
        "containerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}},
                               "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}]}}])");
  EXPECT_EQ(Redacted(items), items);
}

TEST(RedactedTest, APodLosesItsSecretsAndKeepsItsNames) {
  const json pod = json::parse(R"({"metadata": {"managedFields": [1], "annotations": {"mine": "secret1",
      "crossover.dev/share": "true", "kubectl.kubernetes.io/last-applied-configuration": "secret2"}},
      "spec": {"containers": [{"command": ["secret3"], "args": ["secret4"], "image": "i",
      "env": [{"name": "TOKEN", "value": "secret5"}]}]}})");
  const std::string text = Redacted(json::array({pod})).dump();
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_THAT(text, Not(HasSubstr("managedFields")));
  for (const char* kept : {"TOKEN", "\"crossover.dev/share\":\"true\"", "\"image\":\"i\""})
    EXPECT_THAT(text, HasSubstr(kept));
}

TEST(RedactedTest, WhatIsOfNoUsualShapeIsHarmless) {
  for (const char* items : {R"([{"env": {"value": 1}, "labels": [1], "volumes": "x", "waiting": 3}])",
                            R"([{"matchExpressions": [1, {"key": 2}], "env": [null], "terminated": []}])",
                            R"({"httpGet": "x", "annotations": null, "podMetricsEndpoints": [1]})", "3"})
    EXPECT_EQ(Redacted(json::parse(items)), json::parse(items)) << items;
}

}  // namespace
}  // namespace crossover::cli
