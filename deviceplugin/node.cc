#include "deviceplugin/node.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/names.h"
#include "common/kube/list_watch.h"
#include "deviceplugin/config/node_yaml.h"
#include "deviceplugin/inject/library_keeper.h"
#include "deviceplugin/inject/library_store.h"
#include "deviceplugin/inventory/gpu_watch.h"
#include "deviceplugin/metrics/node_metrics.h"
#include "deviceplugin/plugin/plugin.h"
#include "deviceplugin/plugin/service.h"
#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/identity.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {
namespace {

// What a daemon of a node has beside the arbiter, while that serves.
class NodeServices : public Companion {
 public:
  NodeServices(const NodeSettings& settings, PodTable* pods)
      : gpus_({.slots_per_gpu = settings.slots_per_gpu, .quiet = std::chrono::seconds(settings.quiet_after_error_s)},
              &devices_),
        service_(&devices_, settings.allocation,
                 [this, pods](std::size_t slots) { return pods->AssignedTo(slots, HandedOutAlready()); }),
        plugins_(settings.kubelet_directory + "/device-plugins"),
        table_(pods),
        pods_(settings.api_server, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + settings.name, pods),
        plugin_(Plugin::Settings{plugins_, base::kSlotResource}, &service_),
        library_(settings.host_directory, settings.allocation.library_directory, [this] { return AnswersInUse(); }) {}

  std::shared_ptr<prometheus::Collectable> metrics() override {
    return std::make_shared<NodeMetrics>([this] { return State(); });
  }
  std::vector<std::string> Missing() override { return deviceplugin::Missing(State()); }

 private:
  NodeState State() const {
    NodeState state;
    for (const auto& [uuid, gpu] : devices_.gpus()) state.gpus[uuid] = {gpu.slots, gpu.healthy};
    state.xids = gpus_.xids();
    const Plugin::Status plugin = plugin_.status();
    state.registered = plugin.registered;
    state.registrations = plugin.registrations;
    state.registration_failures = plugin.failures;
    state.allocations = service_.allocations();
    state.refusals = service_.refusals();
    state.pods_known = pods_.synced();
    state.pods = table_->All().size();
    return state;
  }

  // What containers of pods that are there were answered; a kubelet may still keep what others were.
  std::optional<std::string> AnswersInUse() const {
    const auto handed_out = ReadCheckpoint(plugins_, base::kSlotResource);
    if (!handed_out || !pods_.synced()) return std::nullopt;
    std::string answers;
    for (const HandedOut& entry : *handed_out) {
      if (table_->Find(entry.pod_uid)) answers += entry.answer + "\n";
    }
    return answers;
  }

  PodTable::Done HandedOutAlready() const {
    PodTable::Done done;
    for (const HandedOut& entry :
         ReadCheckpoint(plugins_, base::kSlotResource).value_or(std::vector<HandedOut>())) {
      done.emplace(entry.pod_uid, entry.container);
    }
    return done;
  }

  DeviceList devices_;
  GpuWatch gpus_;
  SlotService service_;
  const std::string plugins_;  // the kubelet's directory for them
  PodTable* table_;
  kube::ListWatch pods_;
  Plugin plugin_;
  LibraryKeeper library_;  // last: these use the others
};

std::string NodeName() {
  const char* name = std::getenv("NODE_NAME");  // NOLINT(concurrency-mt-unsafe): there is one thread yet
  return name != nullptr ? name : "";
}

// What follows from the environment and the rest of the settings.
bool Complete(NodeConfig* config, std::string* error) {
  NodeSettings& node = config->node;
  if (node.name.empty()) node.name = NodeName();
  if (node.name.empty()) {
    *error = "node.name: not set, and neither is NODE_NAME in the environment: the node's name is allowed";
    return false;
  }
  if (node.api_server.server.empty()) {
    const auto access = kube::InClusterAccess(error);
    if (!access) {
      *error = "node.api_server.server: not set, and " + *error;
      return false;
    }
    node.api_server = *access;
  }
  const auto library = InstallLibrary(node.library, node.host_directory, error);
  if (!library) return false;
  node.allocation.library_directory = *library;
  const std::string& socket = config->daemon.arbiter.socket.path;
  node.allocation.socket_directory = socket.substr(0, socket.rfind('/'));
  return true;
}

}  // namespace

int RunOnNode(const std::string& config_path) {
  std::string error;
  std::optional<NodeConfig> config = ReadNodeYamlConfig(config_path, &error);
  if (!config || !Complete(&*config, &error)) return Fail(error);
  PodTable pods;
  const PodIdentity identity(&pods);
  Extras extras;
  extras.identities = &identity;
  extras.on_started = [&] { return std::make_unique<NodeServices>(config->node, &pods); };
  extras.reread = [&config_path](std::string* why) -> std::optional<Config> {
    auto again = ReadNodeYamlConfig(config_path, why);
    if (!again) return std::nullopt;
    return std::move(again->daemon);
  };
  return Serve(config->daemon, extras);
}

}  // namespace crossover::deviceplugin
