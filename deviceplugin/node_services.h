// What a daemon of a node has beside the arbiter: slots for the kubelet, the pods of the node, GPUs that err
// or that others use, switches, versions of the library, and what the cluster is told of all that.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/events.h"
#include "common/kube/list_watch.h"
#include "common/kube/metrics_access.h"
#include "common/threads/rounds.h"
#include "deviceplugin/books/books.h"
#include "deviceplugin/config/config_file.h"
#include "deviceplugin/config/node_settings.h"
#include "deviceplugin/inventory/gpu_watch.h"
#include "deviceplugin/metrics/node_metrics.h"
#include "deviceplugin/occupants/watch.h"
#include "deviceplugin/plugin/device_list.h"
#include "deviceplugin/plugin/plugin.h"
#include "deviceplugin/plugin/service.h"
#include "deviceplugin/pods/checkpoint_file.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/pods/slot_book.h"
#include "deviceplugin/publish/job_table.h"
#include "deviceplugin/publish/publisher.h"
#include "deviceplugin/reconcile/evictor.h"
#include "deviceplugin/reconcile/kubelet_check.h"
#include "deviceplugin/serve.h"
#include "deviceplugin/sharing/watch.h"
#include "deviceplugin/switches/mistyped.h"
#include "deviceplugin/switches/namespaces.h"
#include "deviceplugin/switches/own_node.h"

namespace crossover::deviceplugin {

class NodeServices : public Companion {
 public:
  // All outlive it. `pods`, `namespaces` and `slots` are filled by it.
  struct Surroundings {
    PodTable* pods;
    Namespaces* namespaces;
    SlotBook* slots;
    const ConfigFile* config;
    Books* books;
    ModeSwitch* modes;
    Limited* daemon;
  };

  // Everything runs from here on.
  NodeServices(const NodeSettings& settings, const Surroundings& around);
  // Requests to the API server that are under way are ended, not waited for.
  ~NodeServices() override { evictor_.Stop(); }

  std::shared_ptr<prometheus::Collectable> metrics() override;
  std::vector<std::string> Missing() override;
  int MetricsStatusFor(const std::string& authorization) override;
  void StopAsking() override { metrics_access_.Stop(); }

  // In force from now on.
  void Apply(const NodeLiveSettings& live);
  // Which of the named configurations this node wants.
  std::string Choice() const { return node_.wishes().configuration; }

 private:
  NodeState State() const;
  std::optional<GpuNode> Report();
  void LookAtJobs();
  std::map<std::string, std::vector<GpuNode::Holder>> HoldersByGpu(const Checkpoint& kubelet) const;
  PodTable::Done NoteDone(const Checkpoint& kubelet) const;
  std::vector<std::string> AssignmentOfNext(std::size_t slots) const;
  std::vector<std::string> Uuids() const;
  std::optional<OccupantJudge::Known> KnownOccupants() const;
  void OnWishes();
  std::uint32_t Slots(const NodeLiveSettings& live) const;
  AllocationSettings AllocationNow() const;
  void PutIntoForce();
  void KeepHeldSlots();
  void Round();
  void WithholdGpus(const Checkpoint* kubelet, const std::vector<Pod>& pods, const SharingChoice& choice);
  std::string WhyNone(const SharingChoice& choice) const;
  std::map<std::string, std::string> FindOthers(const Checkpoint& kubelet, const std::vector<Pod>& pods,
                                                Sharing sharing);
  void LimitTurns(const Checkpoint* kubelet, const std::vector<Pod>& pods);
  bool IsOff(const Pod& pod) const;
  std::map<std::string, std::string> HeldByUnhooked(const Checkpoint& kubelet, const std::vector<Pod>& pods);
  void OnJudged(const OccupantJudge::Verdicts& verdicts);
  void TellOfFaults();
  void TellOfSwitches(const std::vector<Pod>& pods);
  void CollectOldLibraries() const;

  const NodeSettings settings_;  // but for what is live
  const Surroundings around_;
  const std::string plugins_;  // the kubelet's directory for them
  const CheckpointFile kubelet_;
  Evictor evictor_;
  kube::Events events_;
  kube::MetricsAccess metrics_access_;
  std::string choice_;  // of the named configurations, as it was asked for; of the node's watch alone
  OwnNode node_;
  SharingWatch sharing_;
  std::mutex force_mutex_;    // PutIntoForce is for one thread at a time
  mutable std::mutex mutex_;  // over what follows
  NodeLiveSettings live_;     // its library directory is that of the version that is there
  std::map<std::string, std::set<std::string>> pods_of_rivals_;  // by GPU, as they were found last
  DeviceList devices_;
  GpuWatch gpus_;
  SlotService service_;
  KubeletCheck check_;
  kube::ListWatch pods_;
  kube::ListWatch namespaces_;
  kube::ListWatch own_node_;
  std::set<std::pair<pid_t, std::string>> named_in_log_;  // processes and GPUs; of the occupants' watch alone
  OccupantWatch occupants_;
  Plugin plugin_;
  std::atomic<bool> looked_{false};  // all that can be known was known once
  Mistyped mistyped_;
  // Of the round alone.
  std::optional<SharingChoice> choice_in_force_;
  std::map<std::string, std::string> withheld_;  // as FindOthers() was when all was known
  // As they were told.
  std::map<std::string, std::string> faults_;            // of GPUs
  std::map<std::string, std::string> held_by_unhooked_;  // GPUs without turns
  std::set<kube::Event> told_of_unhooked_;               // to pods
  JobTable jobs_;                                        // of the publisher's thread alone
  Publisher publisher_;
  threads::Rounds rounds_;  // last: these use the others
  threads::Rounds library_rounds_;
};

}  // namespace crossover::deviceplugin
