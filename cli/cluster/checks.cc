#include "cli/cluster/checks.h"

#include <utility>

namespace crossover::cli {
namespace {

constexpr std::size_t kShown = 3;  // places in one finding

Finding Judge(const ClusterCheck& check, const ClusterFacts& facts) {
  Finding finding{.name = check.name, .verdict = Verdict::kOk, .seen = check.well, .advice = ""};
  for (const char* list : check.needs) {
    if (facts.lists.contains(list)) continue;
    const auto why = facts.unseen.find(list);
    finding.verdict = Verdict::kUnknown;
    finding.seen = std::string(list) + ": expected a list from the API server, got " +
                   (why == facts.unseen.end() ? "none" : "none: " + why->second);
    return finding;
  }
  const Places places = check.find(facts);
  if (places.empty()) return finding;
  finding.verdict = check.verdict;
  finding.advice = check.advice;
  finding.seen.clear();
  for (std::size_t i = 0; i < places.size() && i < kShown; ++i)
    finding.seen += (i == 0 ? "" : "; ") + places[i];
  if (places.size() > kShown) finding.seen += "; and " + std::to_string(places.size() - kShown) + " more";
  return finding;
}

}  // namespace

const std::vector<ClusterCheck>& ClusterChecks() {
  using V = Verdict;
  static const std::vector<ClusterCheck> checks = {
      {"definitions",
       {"definitions"},
       V::kFail,
       "GPUNode and JobProfile are known",
       "run: kubectl apply -f manifests/crds, or helm upgrade with crds.install=true",
       MissingDefinitions},
      {"daemon_missing",
       {"nodes", "gpu_nodes", "pods", "programs", "daemon_sets"},
       V::kFail,
       "each node with GPUs has a daemon, or the DaemonSet's nodeSelector and affinity leave it out",
       "look whether the node has a label of deviceplugin.affinity, such as nvidia.com/gpu.present=true, "
       "whether deviceplugin.tolerations tolerate its taints, and whether its architecture is the value of "
       "arch; kubectl describe daemonset crossover-deviceplugin says what else is missing; if the node "
       "belongs to another plugin and has such a label, exclude it by deviceplugin.nodeSelector; if the node "
       "has no GPUs any more: kubectl delete gpunode NODE",
       NodesWithoutDaemon},
      {"stale_gpunode",
       {"nodes", "gpu_nodes", "pods", "programs", "daemon_sets"},
       V::kWarn,
       "each GPUNode has a node daemon, or daemon_missing names its node",
       "the other checks ignore this GPUNode; if the daemon will not come back, and no pod of the node has "
       "slots: kubectl delete gpunode NODE",
       StaleGpuNodes},
      {"daemon_not_ready",
       {"programs"},
       V::kFail,
       "all node daemons are ready",
       "run kubectl describe pod and kubectl logs for the pod named here; the log and /readyz say what the "
       "daemon lacks",
       DaemonsNotReady},
      {"no_gpus",
       {"gpu_nodes"},
       V::kFail,
       "each daemon sees GPUs",
       "look for \"the GPUs of this node are not known: \" in the log of the node's daemon: install the "
       "driver on the node, or set "
       "driver.runtimeClassName or driver.root so that the driver reaches the daemon's container; if there "
       "is no such line, the driver lists no GPU, or all GPUs are split into instances (MIG): run nvidia-smi "
       "-L on the node",
       NodesWithoutGpus},
      {"mps_not_ready",
       {"programs"},
       V::kFail,
       "each control daemon of MPS is ready, or there is none",
       "run kubectl describe pod and kubectl logs for the pod named here: while MPS does not run, a node "
       "that shares through MPS gives out no slots, and one with sharing: auto lets no jobs share",
       MpsNotReady},
      {"extender_not_ready",
       {"programs"},
       V::kFail,
       "all extenders are ready",
       "run kubectl describe pod and kubectl logs for the pod named here, for both containers; logs and "
       "/readyz say what they lack; if there is no pod: kubectl describe deployment crossover-extender",
       ExtendersNotReady},
      {"nobody_leads",
       {"leases", "programs"},
       V::kFail,
       "an extender's scheduler holds the Lease",
       "no job that shares is placed until an extender leads: look at the logs of both containers of the "
       "extender's pods; a holder whose pod has just ended is replaced within a minute "
       "(docs/operations.md#crossovernobodyleads)",
       NoLeader},
      {"split_leadership",
       {"leases", "programs"},
       V::kFail,
       "one scheduler leads",
       "two installations place the same pods: uninstall one of them (helm list --all-namespaces)",
       SplitLeadership},
      {"version_skew",
       {"gpu_nodes", "programs"},
       V::kWarn,
       "all programs are of one version",
       "wait until the upgrade is over: the DaemonSet replaces its pods one by one; if none is under way, "
       "set deviceplugin.image and extender.image to one version (docs/operations.md#upgrade)",
       VersionSkew},
      {"webhook_missing",
       {"webhooks"},
       V::kFail,
       "the API server knows the webhook",
       "without the webhook pods that ask to share get whole GPUs: run helm upgrade, or kubectl apply "
       "-f manifests/webhook, which makes the configuration again",
       MissingWebhook},
      {"webhook_certificate",
       {"webhooks"},
       V::kFail,
       "no webhook of Crossover lacks a caBundle; this check does not look whether it is the right one",
       "the API server refuses new pods that share GPUs; with webhook.certificates=self, lines that begin "
       "with \"webhook: \" in the extender's log say why there is no caBundle; with cert-manager, look at "
       "the log of its cainjector; with secret, set webhook.caBundle",
       WebhookWithoutCertificate},
      {"relabelled_metrics",
       {"pod_monitors"},
       V::kWarn,
       "labels of metrics are honoured",
       "set honorLabels: true in the PodMonitor, or use monitoring.podMonitor of the chart: otherwise the "
       "labels namespace and pod name the daemon in place of the job",
       RelabelledMetrics},
      {"two_owners",
       {"nodes", "gpu_nodes"},
       V::kFail,
       "each GPU has one owner",
       "switch the other plugin off on the node, and wait until the pods to which it gave GPUs have ended; "
       "for the plugin of the GPU Operator, set deviceplugin.config.node.gpu_operator=labels "
       "(docs/operations.md#from-another-gpu-plugin)",
       TwoOwners},
      {"gpu_operator",
       {"nodes", "gpu_nodes"},
       V::kWarn,
       "the GPU Operator runs neither its device plugin nor its validator on nodes of ours",
       "set deviceplugin.config.node.gpu_operator=labels: then node daemons set these labels",
       OperatorLabels},
      {"dra_driver",
       {"gpu_nodes"},
       V::kFail,
       "no driver of dynamic resource allocation gives out a GPU of ours",
       "keep the driver off the node, or stop it from giving out GPUs (in NVIDIA's: "
       "resources.gpus.enabled=false); a claim that has a GPU keeps the GPU until its pods end",
       DraDrivers},
      {"used_by_others",
       {"gpu_nodes"},
       V::kFail,
       "each process on a GPU belongs to a pod with a slot",
       "end the process that uses the GPU: the log of the node's daemon names the process",
       Strangers},
      {"mps_takes_no_clients",
       {"gpu_nodes"},
       V::kFail,
       "MPS takes new clients on each node with a control daemon",
       "if its server is in FAULT: delete the pods that report CUDA errors, and MPS recovers by itself; "
       "otherwise look at the log of the pod crossover-mps of the node, end the jobs of the node, and delete "
       "that pod (docs/operations.md#crossovermpstakesnoclients)",
       MpsTakesNoClients},
      {"gpu_withheld",
       {"gpu_nodes"},
       V::kFail,
       "no GPU is withheld for another reason",
       "for a fault of the GPU (an Xid, no answer, or a reset that the driver wants): drain the node, take "
       "the daemon off it, and reset the GPU (docs/operations.md#resets-of-gpus-upgrades-of-the-driver); for "
       "the other reasons see docs/operations.md#a-node-gives-out-no-slots",
       WithheldOtherwise},
      {"memory_unknown",
       {"gpu_nodes"},
       V::kWarn,
       "the memory of each GPU is known",
       "jobs do not share such a GPU: set deviceplugin.config.node.gpu_memory, or gpu_memory of a named "
       "configuration, to the memory of the GPU, such as 119Gi",
       UnknownMemory},
      {"missing_preload",
       {"gpu_nodes"},
       V::kFail,
       "the library is in every process with a slot",
       "give the job crossover.dev/share: exclusive, or start it in another way: the library is not loaded "
       "into a static program, into one that empties its environment, or where SELinux keeps containers from "
       "reading it (docs/operations.md#crossovertakesnopart)",
       MissingPreload},
      {"silent_library",
       {"gpu_nodes"},
       V::kFail,
       "the library in every process with a slot has connected to the daemon",
       "remove CROSSOVER_DISABLE from the job; look in the job's log for lines that begin with crossover:, "
       "which name a refused variable or a daemon that is not reached; if the job calls NCCL or CUDA past "
       "the library, or launches few kernels and no collectives, give it crossover.dev/share: exclusive "
       "(docs/operations.md#crossovertakesnopart)",
       SilentLibrary},
      {"no_turns",
       {"gpu_nodes"},
       V::kWarn,
       "nothing else keeps jobs of a GPU from taking turns",
       "see docs/operations.md#no-turns-are-taken for each reason; if the kubelet gave one GPU or slot to "
       "two pods, delete the pod that came last",
       HeldOtherwise},
      {"no_mps",
       {"gpu_nodes"},
       V::kWarn,
       "jobs share through MPS, or the configuration lets no jobs share",
       "run helm upgrade --set mps.enabled=true, and for timeslice also set "
       "deviceplugin.config.node.sharing, or that of the node's named configuration, to auto: without MPS "
       "sharing gains nothing",
       SharingWithoutMps},
      {"uid_clash_under_mps",
       {"gpu_nodes", "pods"},
       V::kFail,
       "MPS serves the users of all pods",
       "MPS serves one user ID at a time: give jobs that share a node the same runAsUser, and leave out "
       "hostUsers: false, or set mps.multiUser=true",
       UserClash},
      {"shm_hidden_under_mps",
       {"gpu_nodes", "pods"},
       V::kFail,
       "no volume of a pod hides the /dev/shm that the clients of MPS share",
       "set extender.config.webhook.shm=node, which the chart does if mps.enabled=true and a node may share "
       "through MPS, so that the webhook moves such volumes; then delete these pods and make them again",
       HiddenShm},
      {"slot_doubles",
       {"gpu_nodes"},
       V::kFail,
       "each slot has one pod",
       "the kubelet gave one slot to two pods: delete the pod that came last",
       SlotsOfTwo},
      {"gang_collisions",
       {"gpu_nodes"},
       V::kFail,
       "each rank of a gang has a GPU of its own",
       "delete the pod that came last; a job may ask for nvidia.com/gpu or for slots on a node, but not for "
       "both",
       RanksOnOneGpu},
      {"other_gpus",
       {"gpu_nodes", "pods"},
       V::kWarn,
       "kubelets gave each pod the GPUs that were assigned",
       "one such pod does no harm; if there are more of them, look for another program that binds pods, for "
       "restarts of the kubelet, and for a topology manager that chooses by NUMA node (set "
       "deviceplugin.config.node.numa=leave)",
       OtherGpusThanAssigned},
      {"switched_off",
       {"gpu_nodes"},
       V::kWarn,
       "no node has another mode than enforce",
       "if an annotation crossover.dev/mode is named here, remove it; a node in maintenance takes turns "
       "again when that is over; otherwise set deviceplugin.config.mode=enforce, or run crossover mode "
       "configured in the daemon's container (docs/operations.md#off-switches)",
       SwitchedOff},
      {"maintenance",
       {"gpu_nodes"},
       V::kWarn,
       "no node is in maintenance",
       "run kubectl annotate node NODE crossover.dev/maintenance- when the maintenance is over",
       InMaintenance},
      {"mistyped_switches",
       {"nodes", "namespaces"},
       V::kWarn,
       "all switches have values that Crossover knows",
       "set one of the expected values, or remove the switch: a switch with another value counts as not set",
       MistypedSwitches},
      {"quota_without_slots",
       {"quotas"},
       V::kFail,
       "quotas on GPUs limit slots, too",
       "add requests.crossover.dev/slot to the quota: until then pods that share are refused in the "
       "namespace",
       QuotasWithoutSlots},
      {"limit_range_on_gpus",
       {"limit_ranges"},
       V::kFail,
       "no LimitRange limits whole GPUs",
       "remove nvidia.com/gpu from the LimitRange, or limit crossover.dev/slot in its place: until then pods "
       "that share are refused in the namespace",
       LimitRangesOnGpus},
      {"kueue_quota_too_small",
       {"nodes", "gpu_nodes", "pods", "programs", "daemon_sets", "cluster_queues", "resource_flavors"},
       V::kWarn,
       "quotas of Kueue let jobs share GPUs, or there are none",
       "raise nominalQuota, of all ClusterQueues together, to the number of GPUs times the number of jobs "
       "that may share one GPU: until then jobs that could share wait for quota",
       KueueQuotasTooSmall},
      {"autoscaler_may_evict",
       {"pods", "nodes", "autoscaler_status", "node_pools"},
       V::kWarn,
       "autoscalers leave pods with slots where they run, or there are none",
       "an autoscaler may remove the node of the pod: set the annotation, or set "
       "extender.config.webhook.autoscalers=protect and make the pods again",
       PodsThatAutoscalersMove},
      {"autoscaler_counts_unready",
       {"nodes", "autoscaler_status"},
       V::kWarn,
       "Cluster Autoscaler counts nodes with slots as ready, or there is none",
       "Cluster Autoscaler expects nvidia.com/gpu on nodes with this label, and counts a node without it as "
       "broken: replace this label in the node group by one of your own, and use that one in "
       "deviceplugin.affinity (docs/operations.md#autoscalers)",
       NodesThatCountAsUnready},
      {"descheduler_may_evict",
       {"pods", "descheduler_of_chart", "descheduler_of_manifests"},
       V::kWarn,
       "the Descheduler leaves pods with slots where they run, or there is none",
       "the Descheduler may evict single ranks of a gang: set noEvictionPolicy: Mandatory in its "
       "DefaultEvictor, set extender.config.webhook.autoscalers=protect, and make the pods again; or exclude "
       "pods with the label crossover.dev/managed by the labelSelector of its policy "
       "(docs/operations.md#descheduler)",
       PodsThatTheDeschedulerMoves},
      {"gang_over_unnamed_domains",
       {"nodes", "gpu_nodes", "extender_config"},
       V::kWarn,
       "labels say which nodes of a gang are in one rack, or each gang is on one node",
       "the extender places the gang without regard to racks: label the nodes, and name the label in "
       "extender.config.gangs.topology, after region and zone",
       UnnamedDomains},
      {"gpu_model_without_speed",
       {"gpu_nodes", "extender_config"},
       V::kWarn,
       "gangs.gpu_speeds names the models of all GPUs, or is not set, or all GPUs are of one model",
       "name the model in extender.config.gangs.gpu_speeds exactly as it is spelt here: until then a job "
       "that has this model and others is placed without regard to compute",
       ModelsWithoutSpeed},
      {"gang_waits",
       {"pods"},
       V::kWarn,
       "no pod has waited for a node for ten minutes",
       "run kubectl crossover explain pod NAME -n NAMESPACE, which says what the pod waits for",
       LongWaits},
  };
  return checks;
}

std::vector<Finding> ExamineCluster(const ClusterFacts& facts) {
  std::vector<Finding> findings;
  for (const ClusterCheck& check : ClusterChecks()) findings.push_back(Judge(check, facts));
  return findings;
}

}  // namespace crossover::cli
