#include "extender/gang/owner_kinds.h"

#include <array>

namespace crossover::extender {
namespace {

// Returns a row of Kubeflow's training operator. Its kinds differ only in the path of their parts.
constexpr OwnerKind Kubeflow(const char* kind, const char* parts) {
  return {.kind = kind,
          .api_version = "kubeflow.org/v1",
          .name = "training.kubeflow.org/job-name",
          .part = "training.kubeflow.org/replica-type",
          .indices = "training.kubeflow.org/replica-index",
          .parts = parts,
          .replicas = "replicas",
          .pod_template = "template",
          .statuses = "status.replicaStatuses",
          .done = "succeeded",
          .least = "spec.elasticPolicy.minReplicas",
          .least_of = "worker",
          .least_of_all = "spec.runPolicy.schedulingPolicy.minAvailable",
          .made_it = true};
}

// Returns the row of Kubeflow's MPI operator, which makes the launcher through a Job.
constexpr OwnerKind MpiJob() {
  return {.kind = "MPIJob",
          .api_version = "kubeflow.org/v2beta1",
          .name = "training.kubeflow.org/job-name",
          .part = "training.kubeflow.org/job-role",
          .indices = "training.kubeflow.org/replica-index",
          .parts = "spec.mpiReplicaSpecs",
          .replicas = "replicas",
          .pod_template = "template",
          .statuses = "status.replicaStatuses",
          .done = "succeeded",
          .least_of_all = "spec.runPolicy.schedulingPolicy.minAvailable",
          .order = "spec.launcherCreationPolicy",
          .ordered = "WaitForWorkersReady",
          .made_it = true,
          .by_job = "-launcher"};
}

// Returns a row for Kubernetes' Job. Its labels had other names in older versions.
constexpr OwnerKind Job(const char* name, const char* incarnations) {
  return {.kind = "Job",
          .api_version = "batch/v1",
          .name = name,
          .also = "batch.kubernetes.io/job-completion-index",
          .incarnations = incarnations,
          .indices = "batch.kubernetes.io/job-completion-index",
          .pods = "spec.parallelism",
          .at_most = "spec.completions",
          .pod_template = "spec.template",
          .statuses = "status",
          .done = "succeeded",
          .failed_indices = "failedIndexes"};
}

// Each `name` and `index` here is also in kOwnerLabels of common/kube/profile_key.cc. A test compares the two
// (membership_test.cc).
constexpr std::array<OwnerKind, 12> kKinds = {{
    {.name = "kueue.x-k8s.io/pod-group-name",
     .also = "kueue.x-k8s.io/pod-group-total-count",
     .size = "kueue.x-k8s.io/pod-group-total-count",
     .indices = "kueue.x-k8s.io/pod-group-pod-index"},
    {.kind = "JobSet",
     .api_version = "jobset.x-k8s.io/v1alpha2",
     .name = "jobset.sigs.k8s.io/jobset-name",
     .incarnations = "jobset.sigs.k8s.io/jobset-uid jobset.sigs.k8s.io/restart-attempt",
     .part = "jobset.sigs.k8s.io/replicatedjob-name",
     .group = "jobset.sigs.k8s.io/job-index",
     .over_parts = "jobset.sigs.k8s.io/job-global-index",
     .indices = "jobset.sigs.k8s.io/job-index batch.kubernetes.io/job-completion-index",
     .parts = "spec.replicatedJobs",
     .part_name = "name",
     .replicas = "replicas",
     .pods = "template.spec.parallelism",
     .at_most = "template.spec.completions",
     .pod_template = "template.spec.template",
     .statuses = "status.replicatedJobsStatus",
     .done = "succeeded",
     .order = "spec.startupPolicy.startupPolicyOrder",
     .ordered = "InOrder",
     .after = "dependsOn"},
    {.kind = "LeaderWorkerSet",
     .api_version = "leaderworkerset.x-k8s.io/v1",
     .name = "leaderworkerset.sigs.k8s.io/name",
     .index = "leaderworkerset.sigs.k8s.io/group-index",
     .incarnations = "leaderworkerset.sigs.k8s.io/template-revision-hash",
     .part = "leaderworkerset.sigs.k8s.io/worker-index",
     .indices = "leaderworkerset.sigs.k8s.io/worker-index",
     .part_orders = false,
     .replicas = "spec.leaderWorkerTemplate.size",
     .pod_template = "spec.leaderWorkerTemplate.workerTemplate",
     .order = "spec.startupPolicy",
     .ordered = "LeaderReady",
     .leader_template = "spec.leaderWorkerTemplate.leaderTemplate"},
    Kubeflow("PyTorchJob", "spec.pytorchReplicaSpecs"),
    Kubeflow("TFJob", "spec.tfReplicaSpecs"),
    Kubeflow("XGBoostJob", "spec.xgbReplicaSpecs"),
    Kubeflow("PaddleJob", "spec.paddleReplicaSpecs"),
    Kubeflow("JAXJob", "spec.jaxReplicaSpecs"),
    Kubeflow("MPIJob", "spec.mpiReplicaSpecs"),
    MpiJob(),
    Job("batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"),
    Job("job-name", "controller-uid"),  // before 1.27
}};

constexpr std::array<OtherScheduler, 8> kOthers = {{
    {"scheduling.k8s.io/group-name", "Volcano"},
    {"scheduling.volcano.sh/group-name", "Volcano"},
    {"volcano.sh/job-name", "Volcano"},
    {"scheduling.x-k8s.io/pod-group", "coscheduling"},
    {"kueue.x-k8s.io/tas", "Kueue's topology-aware scheduling"},  // in older versions of Kueue
    {"kueue.x-k8s.io/podset-required-topology", "Kueue's topology-aware scheduling"},
    {"kueue.x-k8s.io/podset-preferred-topology", "Kueue's topology-aware scheduling"},
    {"kueue.x-k8s.io/podset-unconstrained-topology", "Kueue's topology-aware scheduling"},
}};

}  // namespace

std::span<const OwnerKind> OwnerKinds() { return kKinds; }
std::span<const OtherScheduler> OtherSchedulers() { return kOthers; }

}  // namespace crossover::extender
