#include "deviceplugin/node.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>

#include "common/base/refusal.h"
#include "common/files/read_file.h"
#include "common/logging/log.h"
#include "deviceplugin/config/config_file.h"
#include "deviceplugin/library_installer/library_store.h"
#include "deviceplugin/node_agent.h"
#include "deviceplugin/pods/cgroup.h"
#include "deviceplugin/pods/identity.h"
#include "deviceplugin/serve.h"

namespace crossover::deviceplugin {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets variables
  return value != nullptr ? value : "";
}

// Fills in the settings that come from the environment and from other settings. Returns false with the
// reason in `error`.
bool Complete(NodeConfig* config, std::string* error) {
  NodeSettings& node = config->node;
  if (node.name.empty()) node.name = Variable("NODE_NAME");
  if (node.name.empty()) {
    *error =
        base::Refusal("node.name", "the node's name, here or as NODE_NAME in the environment", "neither");
    return false;
  }
  if (node.name_space.empty()) node.name_space = Variable("POD_NAMESPACE");
  if (node.name_space.empty())
    logging::Warn(
        "node.namespace: expected a namespace here or as POD_NAMESPACE in the environment, got neither: "
        "there is no switch for the whole cluster");
  if (node.cgroup_root.empty()) {
    std::string why;
    node.cgroup_root = KubeletsRootIn(files::ReadFile("/proc/self/cgroup", &why).value_or(""));
  }
  if (node.api_server.server.empty()) {
    const auto access = kube::InClusterAccess(error);
    if (!access) {
      *error = "node.api_server.server: not set, and " + *error;
      return false;
    }
    node.api_server = *access;
  }
  const auto library = InstallLibrary(node.live.library, node.host_directory, error);
  if (!library) return false;
  node.live.allocation.library_directory = *library;
  const std::string& socket = config->daemon.arbiter.socket.path;
  node.live.allocation.socket_directory = socket.substr(0, socket.rfind('/'));
  return true;
}

}  // namespace

int RunOnNode(const std::string& config_path) {
  std::string error;
  ConfigFile file(config_path);
  std::optional<NodeConfig> config = file.Read("", &error);
  if (!config || !Complete(&*config, &error)) return Fail(error);
  // on_started sets these two.
  std::atomic<TurnLimiter*> daemon{nullptr};
  NodeAgent* agent = nullptr;
  const auto review = [&daemon] {
    if (TurnLimiter* serving = daemon) serving->Review();
  };
  PodTable pods(review);
  Namespaces namespaces(review);
  AllocationIndex slots;
  const PodIdentity identity(&pods, &namespaces, &slots, config->node.cgroup_root, config->node.name_space);
  ServeOptions options;
  options.identities = &identity;
  options.mps_pipe_directory = config->node.mps_pipe_directory();
  options.on_started = [&](Daemon* started, StatsStore* stats_store) {
    daemon = started;
    auto made = std::make_unique<NodeAgent>(
        config->node, NodeAgent::Dependencies{.pods = &pods,
                                              .namespaces = &namespaces,
                                              .slots = &slots,
                                              .config = &file,
                                              .stats_store = stats_store,
                                              .modes = started,
                                              .daemon = started,
                                              .signals = [started] { return started->signals(); }});
    agent = made.get();
    return made;
  };
  options.reread = [&](std::string* why) -> std::optional<Config> {
    auto again = file.Read(agent->Choice(), why);
    if (!again) return std::nullopt;
    const std::string later = NeedRestart(config->node, again->node);
    if (!later.empty())
      logging::Warn("these changed keys take effect only at the next start of this daemon: " + later);
    agent->Apply(again->node.live);
    return std::move(again->daemon);
  };
  return Serve(config->daemon, options);
}

}  // namespace crossover::deviceplugin
