#include "extender/gang/owner_kinds.h"

#include <array>

namespace crossover::extender {
namespace {

// Of Kubeflow's training operator, whose kinds differ in one key alone.
constexpr OwnerKind Kubeflow(const char* kind, const char* api_version, const char* parts,
                             const char* order) {
  return {.kind = kind,
          .api_version = api_version,
          .name = "training.kubeflow.org/job-name",
          .part = "training.kubeflow.org/replica-type",
          .parts = parts,
          .replicas = "replicas",
          .pod_template = "template",
          .order = order,
          .ordered = "WaitForWorkersReady",
          .made_it = true};
}

// By labels that had other names once.
constexpr OwnerKind Job(const char* name, const char* incarnations) {
  return {.kind = "Job",
          .api_version = "batch/v1",
          .name = name,
          .also = "batch.kubernetes.io/job-completion-index",
          .incarnations = incarnations,
          .pods = "spec.parallelism",
          .at_most = "spec.completions",
          .pod_template = "spec.template"};
}

constexpr std::array<OwnerKind, 12> kKinds = {{
    {.name = "kueue.x-k8s.io/pod-group-name",
     .also = "kueue.x-k8s.io/pod-group-total-count",
     .size = "kueue.x-k8s.io/pod-group-total-count"},
    {.kind = "JobSet",
     .api_version = "jobset.x-k8s.io/v1alpha2",
     .name = "jobset.sigs.k8s.io/jobset-name",
     .incarnations = "jobset.sigs.k8s.io/jobset-uid jobset.sigs.k8s.io/restart-attempt",
     .part = "jobset.sigs.k8s.io/replicatedjob-name",
     .parts = "spec.replicatedJobs",
     .part_name = "name",
     .replicas = "replicas",
     .pods = "template.spec.parallelism",
     .at_most = "template.spec.completions",
     .pod_template = "template.spec.template",
     .order = "spec.startupPolicy.startupPolicyOrder",
     .ordered = "InOrder"},
    {.kind = "LeaderWorkerSet",
     .api_version = "leaderworkerset.x-k8s.io/v1",
     .name = "leaderworkerset.sigs.k8s.io/name",
     .index = "leaderworkerset.sigs.k8s.io/group-index",
     .incarnations = "leaderworkerset.sigs.k8s.io/template-revision-hash",
     .part = "leaderworkerset.sigs.k8s.io/worker-index",
     .replicas = "spec.leaderWorkerTemplate.size",
     .pod_template = "spec.leaderWorkerTemplate.workerTemplate",
     .order = "spec.startupPolicy",
     .ordered = "LeaderReady",
     .leader_template = "spec.leaderWorkerTemplate.leaderTemplate"},
    Kubeflow("PyTorchJob", "kubeflow.org/v1", "spec.pytorchReplicaSpecs", ""),
    Kubeflow("TFJob", "kubeflow.org/v1", "spec.tfReplicaSpecs", ""),
    Kubeflow("XGBoostJob", "kubeflow.org/v1", "spec.xgbReplicaSpecs", ""),
    Kubeflow("PaddleJob", "kubeflow.org/v1", "spec.paddleReplicaSpecs", ""),
    Kubeflow("JAXJob", "kubeflow.org/v1", "spec.jaxReplicaSpecs", ""),
    Kubeflow("MPIJob", "kubeflow.org/v1", "spec.mpiReplicaSpecs", ""),
    Kubeflow("MPIJob", "kubeflow.org/v2beta1", "spec.mpiReplicaSpecs", "spec.launcherCreationPolicy"),
    Job("batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"),
    Job("job-name", "controller-uid"),  // before 1.27
}};

constexpr std::array<OtherScheduler, 6> kOthers = {{
    {"scheduling.k8s.io/group-name", "Volcano"},
    {"scheduling.volcano.sh/group-name", "Volcano"},
    {"volcano.sh/job-name", "Volcano"},
    {"scheduling.x-k8s.io/pod-group", "coscheduling"},
    {"kueue.x-k8s.io/tas", "Kueue's topology-aware scheduling"},
    {"kueue.x-k8s.io/podset-required-topology", "Kueue's topology-aware scheduling"},
}};

}  // namespace

std::span<const OwnerKind> OwnerKinds() { return kKinds; }
std::span<const OtherScheduler> OtherSchedulers() { return kOthers; }

}  // namespace crossover::extender
