#include "deviceplugin/config/node_yaml.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "common/files/read_file.h"
#include "common/kube/quantity.h"
#include "common/text/list.h"
#include "deviceplugin/config/yaml_keys.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

// Returns the defaults of a daemon that serves a kubelet. The arbiter's socket lies in a directory of its
// own: containers get this directory mounted, and must not get any other file of ours.
Config DefaultsOnNode() {
  Config config;
  config.arbiter.socket.path = "/run/crossover/arbiter/arbiter.sock";
  config.api_socket = "/run/crossover/api.sock";
  return config;
}

constexpr std::string_view kPathAllowed = "an absolute path of at most 3000 bytes";
constexpr std::int64_t kLongestQuiet = 86'400;
constexpr std::int64_t kFastestLink = 100'000;  // Gb/s
constexpr char kNamedKey[] = "configurations";
constexpr std::string_view kMemoryAllowed = "the memory of a GPU, from 1Mi to 1Pi, such as 119Gi";
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

// Returns whether `text` is a path of a cgroup below the root of the hierarchy, without its first slash.
bool IsBelowTheRoot(std::string_view text) {
  if (std::ranges::any_of(text, [](unsigned char c) { return std::isspace(c) || std::iscntrl(c); }))
    return false;
  for (;;) {
    const std::size_t end = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

yaml::Handler CgroupRoot(std::string* target) {
  return [target](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, "a path of a cgroup without its first slash and without spaces, such as kubelet",
                 [target](const std::string& text) {
                   *target = text;
                   return IsBelowTheRoot(text);
                 });
  };
}

// Returns a handler that reads a size of memory into `bytes`. It refuses sizes below 1Mi, because 119 is a
// mistake for 119Gi.
yaml::Handler Memory(std::uint64_t* bytes) {
  constexpr std::int64_t kLeast = 1 << 20;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  return [bytes](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, kMemoryAllowed, [bytes](const std::string& text) {
      const auto size = kube::ParseQuantity(text);
      if (!size || *size < kLeast || *size > kMost) return false;
      *bytes = static_cast<std::uint64_t>(*size);
      return true;
    });
  };
}

void ReadApiServer(const YAML::Node& node, const std::string& key, kube::Access* access) {
  yaml::Map(node, key,
            {{"server", Text(&access->server, kServerAllowed)},
             {"ca_file", Path(&access->ca_file)},
             {"token_file", Path(&access->token_file)}});
}

// Returns the handlers of the keys that may change while the daemon runs. The chart's values.schema.json has
// each of them twice, the second time for named configurations. tests/charts/test_configuration.py tells of
// one that is missing there. deviceplugin/README.md says where else a key stands.
yaml::Handlers LiveKeys(NodeLiveSettings* live) {
  AllocationSettings& allocation = live->allocation;
  return {
      {"slots_per_gpu", Number(&live->slots_per_gpu, 1, kMostSlotsPerGpu)},
      {"quiet_after_error_s", Number(&live->quiet_after_error_s, 0, kLongestQuiet)},
      {"gpu_memory", Memory(&live->gpu_memory_bytes)},
      {"link_gbps", Number(&live->link_gbps, 0, kFastestLink)},
      {"devices",
       yaml::Word<DeviceStrategy>(&allocation.devices, {{"cdi", DeviceStrategy::kCdi},
                                                        {"device-nodes", DeviceStrategy::kDeviceNodes},
                                                        {"environment", DeviceStrategy::kEnvironment}})},
      {"cdi",
       yaml::Word<CdiSource>(
           &live->cdi, {{"auto", CdiSource::kAuto}, {"given", CdiSource::kGiven}, {"own", CdiSource::kOwn}})},
      {"cdi_kind", Text(&allocation.cdi_kind, "vendor/class of the CDI devices")},
      {"driver_root", Path(&allocation.driver_root)},
      {"injection", yaml::Word<Injection>(&allocation.injection, {{"preload-file", Injection::kPreloadFile},
                                                                  {"environment", Injection::kEnvironment}})},
      {"numa", yaml::Word<bool>(&live->numa, {{"report", true}, {"leave", false}})},
      {"sharing", yaml::Word<Sharing>(&live->sharing, {{"auto", Sharing::kAuto},
                                                       {"mps", Sharing::kMps},
                                                       {"timeslice", Sharing::kTimeslice},
                                                       {"exclusive", Sharing::kExclusive}})},
      {"library", Path(&live->library)}};
}

// Reads the map `node`. A key that is added here, and not to LiveKeys(), takes effect only at a start: it
// also needs a comparison in NeedRestart(), so that the daemon says so.
void ReadNode(const YAML::Node& node, const std::string& key, NodeSettings* settings) {
  yaml::Handlers keys = LiveKeys(&settings->live);
  keys.merge(yaml::Handlers(
      {{"name", Text(&settings->name, "the node's name")},
       {"namespace", Text(&settings->name_space, "the name of a namespace")},
       {"host_directory", Path(&settings->host_directory)},
       {"kubelet_directory", Path(&settings->kubelet_directory)},
       {"cgroup_root", CgroupRoot(&settings->cgroup_root)},
       {"mps_directory", Path(&settings->mps_directory)},
       {"mps_control", Text(&settings->mps_control, "a program's name or path")},
       {"metrics_readers",
        yaml::Word<MetricsReaders>(&settings->metrics_readers, {{"authorized", MetricsReaders::kAuthorized},
                                                                {"everybody", MetricsReaders::kEverybody}})},
       {"gpu_operator",
        yaml::Word<bool>(&settings->marks.operator_labels, {{"leave", false}, {"labels", true}})},
       {"scale_down",
        yaml::Word<bool>(&settings->marks.scale_down_disabled, {{"leave", false}, {"disabled", true}})},
       {"api_server", [&](const YAML::Node& value, const std::string& name) {
          ReadApiServer(value, name, &settings->api_server);
        }}}));
  yaml::Map(node, key, keys);
}

// Returns whether `name` is valid as the value of a Kubernetes label.
bool ValidName(const std::string& name) {
  constexpr std::size_t kLongest = 63;
  constexpr std::string_view kWithin = "-_.";
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && name.size() <= kLongest && plain(name.front()) && plain(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return plain(c) || kWithin.find(c) != std::string_view::npos; });
}

// Reads the named configurations. Each one lists only its differences from the configuration without a
// name. REQUIRES: `config` holds the complete configuration without a name.
void ReadNamed(const YAML::Node& node, const std::string& key, NodeConfig* config) {
  if (!node.IsMap()) yaml::Reject(node, key, "a map of names and configurations");
  yaml::Handlers names;
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!ValidName(name))
      yaml::Reject(entry.first, key, "names of 1 to 63 letters, digits and, within, -, _ and .");
    names.emplace(name, [config, name](const YAML::Node& value, const std::string& at) {
      NodeConfig::Named named{config->daemon, config->node.live};
      const yaml::Handler read_node = [&named](const YAML::Node& of_node, const std::string& node_key) {
        yaml::Map(of_node, node_key, LiveKeys(&named.live));
      };
      ReadLiveConfig(value, at, &named.daemon, {{"node", read_node}});
      config->named.emplace(name, std::move(named));
    });
  }
  yaml::Map(node, key, names);
}

}  // namespace

std::string NeedRestart(const NodeSettings& running, const NodeSettings& wanted) {
  std::string names;
  const auto compare = [&names](const char* name, const std::string& before, const std::string& after) {
    if (!after.empty() && before != after) text::AddTo(&names, std::string("node.") + name);
  };
  compare("name", running.name, wanted.name);
  compare("namespace", running.name_space, wanted.name_space);
  compare("host_directory", running.host_directory, wanted.host_directory);
  compare("kubelet_directory", running.kubelet_directory, wanted.kubelet_directory);
  compare("cgroup_root", running.cgroup_root, wanted.cgroup_root);
  compare("mps_directory", running.mps_directory, wanted.mps_directory);
  compare("mps_control", running.mps_control, wanted.mps_control);
  compare("api_server.server", running.api_server.server, wanted.api_server.server);
  // Without a server the access of the pod's service account is used, whatever files are named.
  if (!wanted.api_server.server.empty()) {
    compare("api_server.ca_file", running.api_server.ca_file, wanted.api_server.ca_file);
    compare("api_server.token_file", running.api_server.token_file, wanted.api_server.token_file);
  }
  if (running.metrics_readers != wanted.metrics_readers) text::AddTo(&names, "node.metrics_readers");
  if (running.marks.operator_labels != wanted.marks.operator_labels) text::AddTo(&names, "node.gpu_operator");
  if (running.marks.scale_down_disabled != wanted.marks.scale_down_disabled)
    text::AddTo(&names, "node.scale_down");
  return names;
}

bool NodeConfig::Choose(const std::string& name) {
  const auto found = named.find(name);
  if (found == named.end()) return false;
  daemon = found->second.daemon;
  node.live = found->second.live;
  return true;
}

std::optional<NodeConfig> ParseNodeYamlConfig(const std::string& text, const std::string& name,
                                              std::string* error) {
  NodeConfig config;
  config.daemon = DefaultsOnNode();
  std::optional<YAML::Node> named;
  const yaml::Handler read_node = [&config](const YAML::Node& value, const std::string& key) {
    ReadNode(value, key, &config.node);
  };
  const yaml::Handler keep_named = [&named](const YAML::Node& value, const std::string&) { named = value; };
  const auto read = [&](const YAML::Node& root) {
    ReadConfig(root, &config.daemon, {{"node", read_node}, {kNamedKey, keep_named}});
    if (named) ReadNamed(*named, kNamedKey, &config);
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
