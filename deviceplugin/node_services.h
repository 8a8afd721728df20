// What a daemon of a node has beside the arbiter: slots for the kubelet, the pods of the node, GPUs that err,
// versions of the library.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/list_watch.h"
#include "common/threads/rounds.h"
#include "deviceplugin/config/node_settings.h"
#include "deviceplugin/inventory/gpu_watch.h"
#include "deviceplugin/metrics/node_metrics.h"
#include "deviceplugin/plugin/device_list.h"
#include "deviceplugin/plugin/plugin.h"
#include "deviceplugin/plugin/service.h"
#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/drift.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {

class NodeServices : public Companion {
 public:
  // Everything runs from here on. `pods`, which it fills, outlives it.
  NodeServices(const NodeSettings& settings, PodTable* pods);

  std::shared_ptr<prometheus::Collectable> metrics() override;
  std::vector<std::string> Missing() override;

 private:
  NodeState State() const;
  // What the kubelet has handed out; nothing where that is not known now.
  std::optional<std::vector<HandedOut>> HandedOutNow() const;
  std::vector<std::string> AssignmentOfNext(std::size_t slots) const;
  void CompareWithKubelet();
  void CollectOldLibraries() const;

  const NodeSettings settings_;
  const std::string plugins_;  // the kubelet's directory for them
  PodTable* table_;
  DeviceList devices_;
  GpuWatch gpus_;
  SlotService service_;
  kube::ListWatch pods_;
  Plugin plugin_;
  mutable std::mutex mutex_;  // over what the kubelet did otherwise than was wanted
  std::vector<Drift> drifts_;
  std::vector<Collision> collisions_;
  threads::Rounds drift_rounds_;  // last: these use the others
  threads::Rounds library_rounds_;
};

}  // namespace crossover::deviceplugin
