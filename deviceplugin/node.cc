#include "deviceplugin/node.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/names.h"
#include "common/kube/list_watch.h"
#include "deviceplugin/config/node_yaml.h"
#include "deviceplugin/inject/library_store.h"
#include "deviceplugin/inventory/inventory.h"
#include "deviceplugin/nvml/library.h"
#include "deviceplugin/plugin/plugin.h"
#include "deviceplugin/plugin/service.h"
#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/identity.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {
namespace {

// What a daemon of a node has beside the arbiter, while that serves.
class NodeServices {
 public:
  NodeServices(const NodeSettings& settings, PodTable* pods)
      : service_(&devices_, settings.allocation,
                 [this, pods](std::size_t slots) { return pods->AssignedTo(slots, HandedOutAlready()); }),
        plugins_(settings.kubelet_directory + "/device-plugins"),
        pods_(settings.api_server, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + settings.name, pods) {
    devices_.Set(FindGpus(settings.slots_per_gpu));
    plugin_ = std::make_unique<Plugin>(Plugin::Settings{plugins_, base::kSlotResource}, &service_);
  }

 private:
  // None where there is no driver: the kubelet is told so.
  static DeviceList::Gpus FindGpus(std::uint32_t slots) {
    std::string why;
    const auto nvml = NvmlLibrary::Load(NvmlLibrary::kName, &why);
    const auto gpus = nvml != nullptr ? nvml->Gpus() : std::nullopt;
    if (!gpus) {
      logging::Warn("no GPUs: " + (nvml != nullptr ? "the driver does not list them" : why));
      return {};
    }
    std::vector<std::string> left_out;
    DeviceList::Gpus advertised = Advertise(*gpus, slots, &left_out);
    for (const std::string& uuid : left_out)
      logging::Warn("gpu " + uuid + " is split into instances: left alone");
    logging::Info(std::to_string(advertised.size()) + " GPUs of " + std::to_string(slots) + " slots each");
    return advertised;
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
  SlotService service_;
  const std::string plugins_;  // the kubelet's directory for them
  kube::ListWatch pods_;
  std::unique_ptr<Plugin> plugin_;  // last: it uses the others
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
  extras.on_started = [&] { return std::make_shared<NodeServices>(config->node, &pods); };
  extras.reread = [&config_path](std::string* why) -> std::optional<Config> {
    auto again = ReadNodeYamlConfig(config_path, why);
    if (!again) return std::nullopt;
    return std::move(again->daemon);
  };
  return Serve(config->daemon, extras);
}

}  // namespace crossover::deviceplugin
