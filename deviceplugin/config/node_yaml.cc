#include "deviceplugin/config/node_yaml.h"

#include "common/files/read_file.h"
#include "deviceplugin/config/values.h"
#include "deviceplugin/config/yaml_keys.h"

namespace crossover::deviceplugin {
namespace {

// The arbiter's socket lies in a directory of its own: containers get that directory, and nothing else of
// ours.
Config DefaultsOnNode() {
  Config config;
  config.arbiter.socket.path = "/run/crossover/arbiter/arbiter.sock";
  config.api_socket = "/run/crossover/api.sock";
  return config;
}

constexpr std::string_view kPathAllowed = "an absolute path of at most 3000 bytes";
constexpr std::int64_t kLongestQuiet = 86'400;
constexpr std::string_view kServerAllowed = "https://host:port";

yaml::Handler Path(std::string* path) {
  return [path](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, kPathAllowed, [path](const std::string& text) {
      *path = text;
      return ValidDirectory(text);
    });
  };
}

yaml::Handler Number(std::uint32_t* target, std::int64_t low, std::int64_t high) {
  return [=](const YAML::Node& value, const std::string& key) {
    yaml::Integer(value, key, low, high,
                  [target](std::int64_t number) { *target = static_cast<std::uint32_t>(number); });
  };
}

yaml::Handler Text(std::string* target, std::string_view allowed) {
  return [target, allowed](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, allowed, [target](const std::string& text) {
      *target = text;
      return !text.empty();
    });
  };
}

// One of some words.
template <class Value>
yaml::Handler Word(Value* target, std::map<std::string, Value> words) {
  return [target, words = std::move(words)](const YAML::Node& value, const std::string& key) {
    std::string allowed;
    for (const auto& [word, meaning] : words) allowed += (allowed.empty() ? "" : " or ") + word;
    yaml::Scalar(value, key, allowed, [&](const std::string& text) {
      const auto found = words.find(text);
      if (found != words.end()) *target = found->second;
      return found != words.end();
    });
  };
}

void ReadApiServer(const YAML::Node& node, const std::string& key, kube::Access* access) {
  yaml::Map(node, key,
            {{"server", Text(&access->server, kServerAllowed)},
             {"ca_file", Path(&access->ca_file)},
             {"token_file", Path(&access->token_file)}});
}

void ReadNode(const YAML::Node& node, const std::string& key, NodeSettings* settings) {
  AllocationSettings& allocation = settings->allocation;
  yaml::Map(
      node, key,
      {{"name", Text(&settings->name, "the node's name")},
       {"slots_per_gpu", Number(&settings->slots_per_gpu, 1, kMostSlotsPerGpu)},
       {"quiet_after_error_s", Number(&settings->quiet_after_error_s, 0, kLongestQuiet)},
       {"devices",
        Word<DeviceStrategy>(&allocation.devices, {{"cdi", DeviceStrategy::kCdi},
                                                   {"device-nodes", DeviceStrategy::kDeviceNodes},
                                                   {"environment", DeviceStrategy::kEnvironment}})},
       {"cdi_kind", Text(&allocation.cdi_kind, "vendor/class of the CDI devices")},
       {"driver_root", Path(&allocation.driver_root)},
       {"injection", Word<Injection>(&allocation.injection, {{"preload-file", Injection::kPreloadFile},
                                                             {"environment", Injection::kEnvironment}})},
       {"host_directory", Path(&settings->host_directory)},
       {"kubelet_directory", Path(&settings->kubelet_directory)},
       {"library", Path(&settings->library)},
       {"api_server", [&](const YAML::Node& value, const std::string& name) {
          ReadApiServer(value, name, &settings->api_server);
        }}});
}

}  // namespace

std::optional<NodeConfig> ParseNodeYamlConfig(const std::string& text, const std::string& name,
                                              std::string* error) {
  NodeConfig config;
  const yaml::Handler read_node = [&config](const YAML::Node& value, const std::string& key) {
    ReadNode(value, key, &config.node);
  };
  const auto read = [&](const YAML::Node& root) {
    config.daemon = ReadConfig(root, DefaultsOnNode(), {{"node", read_node}});
  };
  if (!yaml::Parse(text, name, read, error)) return std::nullopt;
  return config;
}

std::optional<NodeConfig> ReadNodeYamlConfig(const std::string& path, std::string* error) {
  const auto text = files::ReadFile(path, error);
  if (!text) return std::nullopt;
  return ParseNodeYamlConfig(*text, path, error);
}

}  // namespace crossover::deviceplugin
