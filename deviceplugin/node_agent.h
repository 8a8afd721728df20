// Runs the services of a node daemon other than the arbiter. They offer slots to the kubelet, watch the pods
// of the node, find GPUs that have errors or that others use, apply switches, install versions of the
// library, and report all of this to the cluster.
//
//   watches: pods, namespaces, own node, kubelet's file, driver, processes, MPS
//      |
//      v            twice a second
//   Round() --> withhold GPUs (GpuWatch), limit turns (TurnLimiter), evict pods (Evictor), tell pods (Events)
//   Report() --> GPUNode (Publisher)
//
// Each watch, the round (node_round.cc) and the publisher (node_reports.cc) run on threads of their own. Any
// thread may call the functions of NodeExtension.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/withheld.h"
#include "common/kube/events.h"
#include "common/kube/list_watch.h"
#include "common/kube/metrics_access.h"
#include "common/threads/periodic_task.h"
#include "deviceplugin/config/config_file.h"
#include "deviceplugin/config/node_settings.h"
#include "deviceplugin/gpu_processes/watch.h"
#include "deviceplugin/inventory/dra_watch.h"
#include "deviceplugin/inventory/gpu_watch.h"
#include "deviceplugin/inventory/node_link.h"
#include "deviceplugin/metrics/node_metrics.h"
#include "deviceplugin/mps/shm.h"
#include "deviceplugin/plugin/cdi_folder.h"
#include "deviceplugin/plugin/device_list.h"
#include "deviceplugin/plugin/plugin.h"
#include "deviceplugin/plugin/service.h"
#include "deviceplugin/pods/allocation_index.h"
#include "deviceplugin/pods/checkpoint_file.h"
#include "deviceplugin/pods/mistyped.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/reconcile/evictor.h"
#include "deviceplugin/reconcile/kubelet_check.h"
#include "deviceplugin/reductions/plain_notices.h"
#include "deviceplugin/serve.h"
#include "deviceplugin/sharing/pods_under_mps.h"
#include "deviceplugin/sharing/watch.h"
#include "deviceplugin/signals/figures.h"
#include "deviceplugin/stats/stats_store.h"
#include "deviceplugin/status/job_table.h"
#include "deviceplugin/status/node_marks.h"
#include "deviceplugin/status/publisher.h"
#include "deviceplugin/switches/namespaces.h"
#include "deviceplugin/switches/own_node.h"

namespace crossover::deviceplugin {

class NodeAgent : public NodeExtension {
 public:
  // Dependencies holds what the services use. REQUIRES: all of it outlives the NodeAgent. The services
  // fill `pods`, `namespaces` and `slots`.
  struct Dependencies {
    PodTable* pods;
    Namespaces* namespaces;
    AllocationIndex* slots;
    const ConfigFile* config;
    StatsStore* stats_store;
    ModeSwitch* modes;
    TurnLimiter* daemon;
    std::function<signals::ByGpu()> signals;  // returns their figures; any thread may call it
  };

  // Starts all threads.
  NodeAgent(const NodeSettings& settings, const Dependencies& around);
  // Ends the threads. Aborts requests to the API server.
  ~NodeAgent() override { evictor_.Stop(); }

  std::shared_ptr<prometheus::Collectable> metrics() override;
  std::vector<std::string> Missing() override;
  MpsNews Mps() override;
  int MetricsStatusFor(const std::string& authorization) override;
  void StopAsking() override { metrics_access_.Stop(); }

  // Puts `live` in force.
  void Apply(const NodeLiveSettings& live);
  // Returns which of the named configurations this node wants.
  std::string Choice() const { return node_.spec().configuration; }

 private:
  NodeState State() const;  // without mps_shm
  std::optional<GpuNode> Report();
  // Returns what the node's network carries, in bytes per second, or 0.
  std::uint64_t LinkNow();
  void LookAtJobs();
  std::map<std::string, std::vector<GpuNode::Holder>> HoldersByGpu(const Checkpoint& kubelet) const;
  PodTable::Done NoteDone(const Checkpoint& kubelet) const;
  std::vector<std::string> AssignmentOfNext(std::size_t slots) const;
  std::vector<std::string> Uuids() const;
  std::optional<ProcessClassifier::Known> KnownGpuProcesses() const;
  void OnSpec();
  std::uint32_t Slots(const NodeLiveSettings& live) const;
  GpuWatch::Live LiveOfGpus() const;
  AllocationSettings AllocationNow() const;
  void PutIntoForce();
  void KeepAllocatedSlots();
  void Round();
  void LookForCdi();
  void WithholdGpus(const Checkpoint* kubelet, const std::vector<Pod>& pods, const SharingStrategy& strategy);
  std::optional<base::WithheldReason> WhyNone() const;
  std::map<std::string, base::WithheldReason> FindOthers(const Checkpoint& kubelet,
                                                         const std::vector<Pod>& pods, Sharing sharing);
  void LimitTurns(const Checkpoint* kubelet, const std::vector<Pod>& pods);
  bool IsOff(const Pod& pod) const;
  std::map<std::string, std::string> HeldByUnhooked(const Checkpoint& kubelet, const std::vector<Pod>& pods);
  void OnJudged(const ProcessClassifier::Verdicts& verdicts);
  void TellOfFaults();
  void EmptyIdleShm(const Checkpoint& kubelet, const std::vector<Pod>& pods);
  void TellOfMps(const Checkpoint& kubelet, const std::vector<Pod>& pods, const SharingWatch::State& sharing);
  void TellNews(std::set<kube::Event> events, std::set<kube::Event>* told);
  void TellOfSwitches(const std::vector<Pod>& pods);
  void TellOfReductions(const std::vector<Pod>& pods);
  void CollectOldLibraries() const;
  std::optional<NodeMarks> MarksNow() const;
  void OnLabelsTakenBack(bool again);

  const NodeSettings settings_;  // live settings: see live_
  const Dependencies around_;
  const std::string plugins_;  // the kubelet's directory for plugins
  const CheckpointFile kubelet_;
  Evictor evictor_;
  kube::Events events_;
  kube::MetricsAccess metrics_access_;
  std::string choice_;  // configuration last asked for; only on the node watch's thread
  OwnNode node_;
  SharingWatch sharing_;
  std::mutex force_mutex_;    // one thread at a time is in PutIntoForce
  mutable std::mutex mutex_;  // guards live_, pods_of_competitors_ and cdi_
  NodeLiveSettings live_;     // its library directory is that of the installed version
  std::map<std::string, std::set<std::string>> pods_of_competitors_;  // by GPU, as last found
  CdiFolder::State cdi_;                                              // as last found
  DeviceList devices_;
  GpuWatch gpus_;
  SlotService service_;
  KubeletCheck check_;
  kube::ListWatch pods_;
  kube::ListWatch namespaces_;
  kube::ListWatch own_node_;
  DraWatch dra_;
  std::set<std::pair<pid_t, std::string>>
      named_in_log_;  // PID and GPU; only on the GPU processes watch's thread
  GpuProcessWatch gpu_processes_;
  Plugin plugin_;
  std::atomic<bool> looked_{false};  // FindOthers() has run once, so that it is known which GPUs to withhold
  Mistyped mistyped_;
  PlainNotices plain_notices_;  // only the round uses it
  NodeLink link_;               // only on the publisher's thread
  // Only the round uses these four.
  CdiFolder cdi_folder_{CdiFolder::Settings()};
  std::int64_t cdi_looked_ = 0;  // when; 0: never
  std::optional<SharingStrategy> strategy_in_force_;
  std::map<std::string, base::WithheldReason> withheld_;  // last result of FindOthers()
  // The next maps hold what the last round reported.
  std::map<std::string, base::WithheldReason> faults_;   // faults of GPUs
  std::set<std::string> of_unknown_memory_;              // GPUs
  std::map<std::string, std::string> held_by_unhooked_;  // GPUs without turns
  std::set<kube::Event> told_of_unhooked_;               // events for pods
  ShmIdle shm_idle_;
  std::set<kube::Event> told_of_mps_;  // events for pods under MPS
  RecentMpsPods recent_mps_pods_;
  std::uint64_t told_losses_ = 0;  // SharingWatch::State::losses
  JobTable jobs_;                  // only on the publisher's thread
  Publisher publisher_;
  NodeMarker marker_;
  threads::PeriodicTask task_;  // last: these threads use the other members
  threads::PeriodicTask library_task_;
};

}  // namespace crossover::deviceplugin
