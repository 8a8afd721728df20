#include "tests/unit/extender/gang/owner_samples.h"

#include "common/base/names.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

json SampleTemplate() {
  const json limits = {{"limits", {{base::kSlotResource, "1"}}}};
  return {{"spec", {{"containers", {{{"name", "main"}, {"resources", limits}}}}}}};
}

OwnerSample Kubeflow(const char* kind, const char* api_version, const char* parts, const char* role) {
  return {.name = kind,
          .labels = {{"training.kubeflow.org/job-name", "t"}, {role, "worker"}},
          .annotations = {},
          .owner = {api_version, kind, "t", "uid-of-t"},
          .object = {{"apiVersion", api_version},
                     {"kind", kind},
                     {"spec", {{parts, {{"Worker", {{"replicas", 3}, {"template", SampleTemplate()}}}}}}},
                     {"status", {{"replicaStatuses", {{"Worker", {{"succeeded", 1}}}}}}}}};
}

}  // namespace

std::vector<OwnerSample> OwnerSamples() {
  constexpr char kType[] = "training.kubeflow.org/replica-type";
  const json spec = {{"parallelism", 3}, {"completions", 3}, {"template", SampleTemplate()}};
  const json part = {{"name", "w"}, {"template", {{"spec", spec}}}};
  std::vector<OwnerSample> kinds = {
      Kubeflow("PyTorchJob", "kubeflow.org/v1", "pytorchReplicaSpecs", kType),
      Kubeflow("TFJob", "kubeflow.org/v1", "tfReplicaSpecs", kType),
      Kubeflow("XGBoostJob", "kubeflow.org/v1", "xgbReplicaSpecs", kType),
      Kubeflow("PaddleJob", "kubeflow.org/v1", "paddleReplicaSpecs", kType),
      Kubeflow("JAXJob", "kubeflow.org/v1", "jaxReplicaSpecs", kType),
      Kubeflow("MPIJob", "kubeflow.org/v1", "mpiReplicaSpecs", kType),
      Kubeflow("MPIJob", "kubeflow.org/v2beta1", "mpiReplicaSpecs", "training.kubeflow.org/job-role")};
  for (const char* prefix : {"batch.kubernetes.io/", ""}) {
    kinds.push_back(
        {.name = "Job",
         .labels = {{std::string(prefix) + "job-name", "t"},
                    {std::string(prefix) + "controller-uid", "uid-of-t"}},
         .annotations = {{"batch.kubernetes.io/job-completion-index", "0"}},
         .owner = {"batch/v1", "Job", "t", "uid-of-t"},
         .object = {
             {"apiVersion", "batch/v1"}, {"kind", "Job"}, {"spec", spec}, {"status", {{"succeeded", 1}}}}});
  }
  kinds.push_back({.name = "JobSet",
                   .labels = {{"jobset.sigs.k8s.io/jobset-name", "t"},
                              {"jobset.sigs.k8s.io/replicatedjob-name", "w"},
                              {"jobset.sigs.k8s.io/job-index", "0"}},
                   .annotations = {},
                   .owner = {"batch/v1", "Job", "t-w-0", "uid-of-t-w-0"},
                   .object = {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                              {"kind", "JobSet"},
                              {"spec", {{"replicatedJobs", json::array({part})}}}}});
  kinds.push_back(
      {.name = "LeaderWorkerSet",
       .labels = {{"leaderworkerset.sigs.k8s.io/name", "t"},
                  {"leaderworkerset.sigs.k8s.io/group-index", "0"}},
       .annotations = {},
       .owner = {"apps/v1", "StatefulSet", "t-0", "uid-of-t-0"},
       .object = {{"apiVersion", "leaderworkerset.x-k8s.io/v1"},
                  {"kind", "LeaderWorkerSet"},
                  {"spec", {{"leaderWorkerTemplate", {{"size", 3}, {"workerTemplate", SampleTemplate()}}}}}},
       .numbered = "leaderworkerset.sigs.k8s.io/worker-index"});
  kinds.push_back({.name = "Kueue's pod group",
                   .labels = {{"kueue.x-k8s.io/pod-group-name", "t"}},
                   .annotations = {{"kueue.x-k8s.io/pod-group-total-count", "3"}},
                   .owner = {},
                   .object = nullptr});
  kinds.push_back({.name = "a gang by annotation",
                   .labels = {},
                   .annotations = {{"crossover.dev/gang", "t"}, {"crossover.dev/gang-size", "3"}},
                   .owner = {"ray.io/v1", "RayCluster", "t", "uid-of-t"},
                   .object = nullptr});
  return kinds;
}

Pod PodOf(const OwnerSample& kind, const std::string& uid, int number) {
  Pod pod;
  pod.uid = pod.name = uid;
  pod.name_space = "team";
  pod.labels = kind.labels;
  if (*kind.numbered != '\0') pod.labels[kind.numbered] = std::to_string(number);
  pod.annotations = kind.annotations;
  if (!kind.owner.uid.empty()) pod.owner = kind.owner;
  Container container;
  container.name = "main";
  container.slots = 1;
  pod.containers = {container};
  return pod;
}

}  // namespace crossover::extender
