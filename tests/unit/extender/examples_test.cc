// Checks the example jobs of manifests/examples with the code that judges them in a cluster: their pods
// share, and the number of pods of each job is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "extender/admission/rewrite.h"
#include "extender/gang/membership.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

// Returns a YAML value as an API server reads it: a quoted value is text, even if it looks like a number.
json JsonOf(const YAML::Node& node) {
  json value;
  if (node.IsMap()) {
    for (const auto& entry : node) value[entry.first.as<std::string>()] = JsonOf(entry.second);
  } else if (node.IsSequence()) {
    for (const YAML::Node& entry : node) value.push_back(JsonOf(entry));
  } else if (node.IsScalar()) {
    value = node.Tag() == "!" ? json() : json::parse(node.Scalar(), nullptr, false);
    if (!value.is_number() && !value.is_boolean()) value = node.Scalar();
  }
  return value;
}

struct Example {
  const char* file;
  const char* kind;
  std::vector<const char*> templates;  // for pods that share, as JSON pointers
  Labels labels;                       // which the job's controller gives the pods
};

const std::vector<Example> kExamples = {
    {"indexed-job.yaml",
     "Job",
     {"/spec/template"},
     {{"batch.kubernetes.io/job-name", "train"}, {"batch.kubernetes.io/job-completion-index", "0"}}},
    {"jobset.yaml",
     "JobSet",
     {"/spec/replicatedJobs/0/template/spec/template"},
     {{"jobset.sigs.k8s.io/jobset-name", "train"},
      {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
      {"batch.kubernetes.io/job-name", "train-workers-0"},
      {"batch.kubernetes.io/job-completion-index", "0"}}},
    {"leaderworkerset.yaml",
     "LeaderWorkerSet",
     {"/spec/leaderWorkerTemplate/workerTemplate"},
     {{"leaderworkerset.sigs.k8s.io/name", "train"},
      {"leaderworkerset.sigs.k8s.io/group-index", "0"},
      {"leaderworkerset.sigs.k8s.io/worker-index", "0"}}},
    {"mpijob.yaml",
     "MPIJob",
     {"/spec/mpiReplicaSpecs/Worker/template"},
     {{"training.kubeflow.org/job-name", "train"}, {"training.kubeflow.org/job-role", "worker"}}},
    {"pytorchjob.yaml",
     "PyTorchJob",
     {"/spec/pytorchReplicaSpecs/Master/template", "/spec/pytorchReplicaSpecs/Worker/template"},
     {{"training.kubeflow.org/job-name", "train"}, {"training.kubeflow.org/replica-type", "worker"}}},
    {"raycluster.yaml",
     "RayCluster",
     {"/spec/workerGroupSpecs/0/template"},
     {{"ray.io/cluster", "train"}, {"ray.io/node-type", "worker"}}},
};

// Returns whether the annotations of the pods say which of them are one job. Else their owner does.
bool SaysItself(const Example& example) { return std::string(example.kind) == "RayCluster"; }

json Read(const Example& example) {
  for (const YAML::Node& node : YAML::LoadAllFromFile(std::string(EXAMPLES "/") + example.file)) {
    json object = JsonOf(node);
    if (object["kind"] == example.kind) return object;
  }
  return {};
}

Pod PodOf(const Example& example, const json& job) {
  Pod pod;
  pod.name_space = "team";
  pod.labels = example.labels;
  pod.owner = Owner{job.value("apiVersion", ""), example.kind, "train", "uid"};
  const json& metadata = job.at(json::json_pointer(example.templates.front())).at("metadata");
  for (const auto& [key, value] : metadata.at("annotations").items()) pod.annotations[key] = value;
  return pod;
}

admission::Outcome Admitted(json pod) {
  const auto no_limits = [](const std::string&) { return admission::NamespaceLimits(); };
  pod["metadata"]["name"] = "train-0";
  return admission::Rewrite(pod, "team", {}, no_limits).outcome;
}

TEST(Examples, AllOfThemAreTried) {
  std::set<std::string> files, tried;
  for (const auto& entry : std::filesystem::directory_iterator(EXAMPLES)) {
    if (entry.is_regular_file()) files.insert(entry.path().filename());
  }
  for (const Example& example : kExamples) tried.insert(example.file);
  EXPECT_EQ(files, tried);
}

TEST(Examples, EachIsAGangOfFour) {
  for (const Example& example : kExamples) {
    const json job = Read(example);
    const Pod pod = PodOf(example, job);
    const auto owner = OwnerOf(pod);
    EXPECT_EQ(AboutGang(MembershipOf(pod)), "") << example.file;
    if (SaysItself(example)) {
      EXPECT_EQ(MembershipOf(pod).size, 4) << example.file;
      continue;
    }
    ASSERT_TRUE(owner) << example.file;
    EXPECT_EQ(owner->kind, example.kind);
    EXPECT_EQ(owner->api_version, job["apiVersion"]);
    EXPECT_EQ(owner->name, job["metadata"]["name"]);
    const OwnerFacts facts = ReadOwner(job);
    EXPECT_EQ(MembershipOf(pod, &facts).size, 4) << example.file;
  }
}

TEST(Examples, WithoutGpusThereIsNoGang) {  // the control
  for (const Example& example : kExamples) {
    json job = Read(example);
    for (const char* path : example.templates) {
      job[json::json_pointer(path)]["spec"]["containers"][0].erase("resources");
    }
    EXPECT_EQ(ReadOwner(job).total(), 0) << example.file;
  }
}

// A Job's failed pods count against backoffLimit, except those that were evicted. 12 is more than the pods of
// a node that a reboot ends. The control on a cluster: tests/cluster/owners/test_owners_live.py.
TEST(Examples, NoneOfThemEndsByAnEvictionOrAReboot) {
  const json ignore = {{"action", "Ignore"},
                       {"onPodConditions", json::array({{{"type", "DisruptionTarget"}}})}};
  for (const char* path : {"indexed-job.yaml", "jobset.yaml"}) {
    const auto example = std::ranges::find(kExamples, std::string(path), &Example::file);
    const json::json_pointer at(std::string(path) == "jobset.yaml" ? "/spec/replicatedJobs/0/template/spec"
                                                                   : "/spec");
    const json spec = Read(*example).at(at);
    EXPECT_GE(spec.at("backoffLimit").get<int>(), 12) << path;
    EXPECT_EQ(spec.at("podFailurePolicy").at("rules"), json::array({ignore})) << path;
  }
  for (const Example& example : kExamples) {
    const json spec = Read(example).at("spec");
    if (std::string(example.kind) == "JobSet") {
      EXPECT_GE(spec.at("failurePolicy").at("maxRestarts").get<int>(), 1);
    }
    if (std::string(example.kind) == "MPIJob") {
      EXPECT_GE(spec.at("runPolicy").at("backoffLimit").get<int>(), 12);
    }
    if (std::string(example.kind) != "PyTorchJob") continue;
    for (const json& replicas : spec.at("pytorchReplicaSpecs")) {
      EXPECT_EQ(replicas.at("restartPolicy"), "ExitCode");
    }
  }
}

TEST(Examples, TheirPodsShare) {
  for (const Example& example : kExamples) {
    for (const char* path : example.templates) {
      const json pod = Read(example)[json::json_pointer(path)];
      EXPECT_EQ(Admitted(pod), admission::Outcome::kRewritten) << example.file << path;
      json other = pod;
      other["metadata"]["annotations"]["crossover.dev/shares"] = "true";
      EXPECT_EQ(Admitted(other), admission::Outcome::kRefused) << "the control: a key that is mistyped";
      other["metadata"].erase("annotations");
      EXPECT_EQ(Admitted(other), admission::Outcome::kUntouched) << "the control: one that does not want to";
    }
  }
}

}  // namespace
}  // namespace crossover::extender
