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
    finding.seen = std::string(list) + ": " + (why == facts.unseen.end() ? "not asked for" : why->second);
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
       "apply manifests/crds, or helm upgrade with crds.install=true",
       MissingDefinitions},
      {"daemon_missing",
       {"nodes", "gpu_nodes", "pods", "programs", "daemon_sets"},
       V::kFail,
       "each node with GPUs has a daemon, or the DaemonSet's nodeSelector and affinity leave it out",
       "do deviceplugin.tolerations let it onto that node, and is its architecture that of the value arch? "
       "kubectl describe daemonset says what else it lacks; deviceplugin.nodeSelector leaves out a node that "
       "is to be another plugin's; where no GPUs are any more: kubectl delete gpunode NODE",
       NodesWithoutDaemon},
      {"stale_gpunode",
       {"nodes", "gpu_nodes", "pods", "programs", "daemon_sets"},
       V::kWarn,
       "each GPUNode has a daemon that keeps it up to date, or that is missing",
       "no other check goes by what it says; where the daemon is not to come back, and no pod there has "
       "slots: kubectl delete gpunode NODE",
       StaleGpuNodes},
      {"daemon_not_ready",
       {"programs"},
       V::kFail,
       "all node daemons are ready",
       "kubectl describe that pod; its /readyz and its log say what it lacks",
       DaemonsNotReady},
      {"no_gpus",
       {"gpu_nodes"},
       V::kFail,
       "each daemon sees GPUs",
       "\"no GPUs: \" in that daemon's log says why: the driver does not reach its container "
       "(driver.runtimeClassName, driver.root), or is not there",
       NodesWithoutGpus},
      {"mps_not_ready",
       {"programs"},
       V::kFail,
       "all control daemons of MPS that there are, are ready",
       "look at that pod's log; nothing is given out on its node until it is back",
       MpsNotReady},
      {"extender_not_ready",
       {"programs"},
       V::kFail,
       "all extenders are ready",
       "kubectl describe that pod; the /readyz and the log of its containers say what they lack",
       ExtendersNotReady},
      {"nobody_leads",
       {"leases", "programs"},
       V::kFail,
       "an extender's scheduler holds the Lease",
       "no job that shares is placed: look at both containers of the extender's pods",
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
       "end the upgrade: the DaemonSet's pods are replaced one by one; docs/operations.md has the order",
       VersionSkew},
      {"webhook_missing",
       {"webhooks"},
       V::kFail,
       "the webhook is there",
       "pods ask for whole GPUs without it: helm upgrade puts it back",
       MissingWebhook},
      {"webhook_certificate",
       {"webhooks"},
       V::kFail,
       "the webhook has a caBundle; whether it is the right one is not looked at",
       "no pod that shares can be made: the extender's log says why it did not put its certificate there",
       WebhookWithoutCertificate},
      {"relabelled_metrics",
       {"pod_monitors"},
       V::kWarn,
       "labels of metrics are honoured",
       "set honorLabels: true there, or use monitoring.podMonitor of the chart: else namespace and pod are "
       "the daemon's",
       RelabelledMetrics},
      {"two_owners",
       {"nodes", "gpu_nodes"},
       V::kFail,
       "each GPU has one owner",
       "switch the other plugin off on that node; for the GPU Operator's: "
       "deviceplugin.config.node.gpu_operator=labels",
       TwoOwners},
      {"gpu_operator",
       {"nodes", "gpu_nodes"},
       V::kWarn,
       "the GPU Operator runs neither its device plugin nor its validator on nodes of ours",
       "deviceplugin.config.node.gpu_operator=labels lets node daemons set these labels",
       OperatorLabels},
      {"dra_driver",
       {"gpu_nodes"},
       V::kFail,
       "no driver of dynamic resource allocation gives out a GPU of ours",
       "keep that driver off the node, or switch off what gives out GPUs in it (NVIDIA's: "
       "resources.gpus.enabled=false); claims that have a GPU keep it until their pods end",
       DraDrivers},
      {"used_by_others",
       {"gpu_nodes"},
       V::kFail,
       "no process uses a GPU without a slot of it",
       "end that process: the daemon's log on that node names it",
       Strangers},
      {"mps_takes_no_clients",
       {"gpu_nodes"},
       V::kFail,
       "MPS takes new clients wherever its control daemon runs",
       "in FAULT: delete the pods that the fault ended, and it recovers by itself; otherwise the log of the "
       "pod crossover-mps there says why; delete that pod after the jobs of its node",
       MpsTakesNoClients},
      {"gpu_withheld",
       {"gpu_nodes"},
       V::kFail,
       "all GPUs are given out",
       "an Xid or a wish for a reset is the driver's: drain the node and reset the GPU",
       WithheldOtherwise},
      {"memory_unknown",
       {"gpu_nodes"},
       V::kWarn,
       "the memory of each GPU is known",
       "jobs do not share it: set deviceplugin.config.node.gpu_memory, or that of a named configuration, to "
       "its memory, such as 119Gi",
       UnknownMemory},
      {"missing_preload",
       {"gpu_nodes"},
       V::kFail,
       "the library is in every process with a slot",
       "a static program, or one that empties its environment and links nothing: start that job with share: "
       "exclusive",
       MissingPreload},
      {"silent_library",
       {"gpu_nodes"},
       V::kFail,
       "the library is heard of from every process with a slot",
       "CROSSOVER_DISABLE=1 in the job, or NCCL called past the library: docs/usage.md, \"One owner\"",
       SilentLibrary},
      {"no_turns",
       {"gpu_nodes"},
       V::kWarn,
       "turns are kept off no GPU",
       "docs/usage.md, \"What the kubelet did\": delete the pod that came last",
       HeldOtherwise},
      {"no_mps",
       {"gpu_nodes"},
       V::kWarn,
       "jobs share through MPS, or are not meant to share",
       "sharing gains nothing without MPS: helm upgrade --set mps.enabled=true",
       SharingWithoutMps},
      {"uid_clash_under_mps",
       {"gpu_nodes", "pods"},
       V::kFail,
       "MPS serves the users of all pods",
       "MPS serves one user ID at a time: the same runAsUser, and no hostUsers: false, for jobs that are to "
       "meet, or mps.multiUser=true",
       UserClash},
      {"shm_hidden_under_mps",
       {"gpu_nodes", "pods"},
       V::kFail,
       "no volume of a pod hides the /dev/shm that MPS's clients have in common",
       "extender.config.webhook.shm=node moves such volumes, and the chart sets it with mps.enabled=true; "
       "make these pods anew",
       HiddenShm},
      {"slot_doubles",
       {"gpu_nodes"},
       V::kFail,
       "each slot has one pod",
       "the kubelet gave one slot to two pods: delete the one that came last",
       SlotsOfTwo},
      {"gang_collisions",
       {"gpu_nodes"},
       V::kFail,
       "ranks of a gang are on GPUs of their own",
       "delete the pod that came last; nvidia.com/gpu and slots of one job on one node do not mix",
       RanksOnOneGpu},
      {"other_gpus",
       {"gpu_nodes", "pods"},
       V::kWarn,
       "kubelets gave the GPUs that were assigned",
       "harmless by itself; where it recurs another program binds pods, the kubelet restarts, or its "
       "topology "
       "manager chooses by NUMA node (node.numa: leave)",
       OtherGpusThanAssigned},
      {"switched_off",
       {"gpu_nodes"},
       V::kWarn,
       "turns are taken on all nodes",
       "remove the annotation crossover.dev/mode of what is named",
       SwitchedOff},
      {"maintenance",
       {"gpu_nodes"},
       V::kWarn,
       "no node is in maintenance",
       "kubectl annotate node NODE crossover.dev/maintenance- when it is over",
       InMaintenance},
      {"mistyped_switches",
       {"nodes", "namespaces"},
       V::kWarn,
       "all switches have values that Crossover knows",
       "a switch with another value counts as not set",
       MistypedSwitches},
      {"quota_without_slots",
       {"quotas"},
       V::kFail,
       "quotas on GPUs limit slots, too",
       "pods that share are refused there: add requests.crossover.dev/slot to the quota",
       QuotasWithoutSlots},
      {"limit_range_on_gpus",
       {"limit_ranges"},
       V::kFail,
       "no LimitRange bounds whole GPUs",
       "pods that share are refused there: take nvidia.com/gpu out of the LimitRange, or bound "
       "crossover.dev/slot in its place",
       LimitRangesOnGpus},
      {"kueue_quota_too_small",
       {"nodes", "gpu_nodes", "pods", "programs", "daemon_sets", "cluster_queues", "resource_flavors"},
       V::kWarn,
       "quotas of Kueue let jobs share GPUs, or there are none",
       "jobs that could share wait for quota: raise nominalQuota to the GPUs times the jobs that may share "
       "one",
       KueueQuotasTooSmall},
      {"autoscaler_may_evict",
       {"pods", "nodes", "autoscaler_status", "node_pools"},
       V::kWarn,
       "autoscalers leave pods with slots where they run, or there are none",
       "an autoscaler may take the node away: make the pods again with extender.config.webhook.autoscalers: "
       "protect, or set the annotation",
       PodsThatAutoscalersMove},
      {"autoscaler_counts_unready",
       {"nodes", "autoscaler_status"},
       V::kWarn,
       "Cluster Autoscaler counts nodes with slots as ready, or there is none",
       "it expects nvidia.com/gpu on nodes with that label, and takes them for broken: give them another "
       "label, as "
       "docs/operations.md says",
       NodesThatCountAsUnready},
      {"descheduler_may_evict",
       {"pods", "descheduler_of_chart", "descheduler_of_manifests"},
       V::kWarn,
       "the Descheduler leaves pods with slots where they run, or there is none",
       "it may evict single ranks of a gang: set noEvictionPolicy: Mandatory in its DefaultEvictor, and make "
       "the "
       "pods again with extender.config.webhook.autoscalers: protect, or leave out pods with the label "
       "crossover.dev/managed by its labelSelector",
       PodsThatTheDeschedulerMoves},
      {"gang_over_unnamed_domains",
       {"nodes", "gpu_nodes", "extender_config"},
       V::kWarn,
       "labels say which nodes of a gang are in one rack, or each gang is on one node",
       "its pods are placed without regard to racks: label the nodes, and name that label in "
       "extender.config.gangs.topology, behind region and zone",
       UnnamedDomains},
      {"gpu_model_without_speed",
       {"gpu_nodes", "extender_config"},
       V::kWarn,
       "gangs.gpu_speeds names the models of all GPUs, or none",
       "a job that has such a GPU and others is placed without regard to compute: name the model in "
       "extender.config.gangs.gpu_speeds exactly as it is here",
       ModelsWithoutSpeed},
      {"gang_waits",
       {"pods"},
       V::kWarn,
       "no pod waits for its gang for over ten minutes",
       "kubectl crossover explain pod NAME says for what",
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
