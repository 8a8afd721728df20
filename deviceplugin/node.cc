#include "deviceplugin/node.h"

#include <cstdlib>
#include <memory>
#include <optional>

#include "deviceplugin/config/node_yaml.h"
#include "deviceplugin/inject/library_store.h"
#include "deviceplugin/node_services.h"
#include "deviceplugin/pods/identity.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {
namespace {

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
