#include "deviceplugin/config/yaml_config.h"

#include "common/files/read_file.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/config/yaml_keys.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

using yaml::Integer;
using yaml::Map;
using yaml::Reject;
using yaml::Scalar;

void ReadSocket(const YAML::Node& node, const std::string& key, arbiter::SocketSettings* socket) {
  Map(node, key,
      {{"path",
        [&](const YAML::Node& value, const std::string& name) {
          Scalar(value, name, kSocketPathAllowed, [&](const std::string& text) {
            socket->path = text;
            return ValidSocketPath(text);
          });
        }},
       {"mode",
        [&](const YAML::Node& value, const std::string& name) {
          Scalar(value, name, kSocketModeAllowed, [&](const std::string& text) {
            const auto mode = ParseFileMode(text);
            socket->mode = mode.value_or(0);
            return mode.has_value();
          });
        }},
       {"group", [&](const YAML::Node& value, const std::string& name) {
          Scalar(value, name, kGroupAllowed, [&](const std::string& text) {
            socket->group = ParseGroup(text);
            return socket->group.has_value();
          });
        }}});
}

void ReadGpus(const YAML::Node& node, const std::string& key, std::optional<std::vector<std::string>>* gpus) {
  gpus->reset();
  if (node.IsScalar() && node.Scalar() == "all") return;
  if (!node.IsSequence() || node.size() == 0) Reject(node, key, kGpusAllowed);
  gpus->emplace();
  for (const YAML::Node& item : node) {
    Scalar(item, key, kGpusAllowed, [&](const std::string& text) {
      gpus->value().push_back(text);
      return arbiter::ValidGpuUuid(text);
    });
  }
}

void ReadWatchdog(const YAML::Node& node, const std::string& key, turn::WatchdogSettings* watchdog) {
  Map(node, key,
      {{"floor_ms",
        [&](const YAML::Node& value, const std::string& name) {
          Integer(value, name, 1, 60'000, [&](std::int64_t ms) { watchdog->floor = ms * 1'000'000; });
        }},
       {"factor",
        [&](const YAML::Node& value, const std::string& name) {
          Integer(value, name, 1, 1000, [&](std::int64_t factor) { watchdog->factor = factor; });
        }},
       {"offences",
        [&](const YAML::Node& value, const std::string& name) {
          Integer(value, name, 1, 1'000'000,
                  [&](std::int64_t offences) { watchdog->offences = static_cast<std::uint32_t>(offences); });
        }},
       {"forgive_s", [&](const YAML::Node& value, const std::string& name) {
          Integer(value, name, 1, 1'000'000,
                  [&](std::int64_t seconds) { watchdog->forgive = seconds * 1'000'000'000; });
        }}});
}

void ReadLimits(const YAML::Node& node, const std::string& key, arbiter::Limits* limits) {
  const auto count = [](std::uint32_t* target) {
    return [target](const YAML::Node& value, const std::string& name) {
      Integer(value, name, 1, 65'536, [&](std::int64_t n) { *target = static_cast<std::uint32_t>(n); });
    };
  };
  Map(node, key,
      {{"connections", count(&limits->connections)},
       {"connections_per_user", count(&limits->connections_per_user)},
       {"gpus", count(&limits->gpus)}});
}

void ReadMetrics(const YAML::Node& node, const std::string& key, std::string* listen) {
  Map(node, key, {{"listen", [&](const YAML::Node& value, const std::string& name) {
                     Scalar(value, name, kListenAllowed, [&](const std::string& text) {
                       *listen = text == "off" ? "" : text;
                       return text == "off" || ValidListenAddress(text);
                     });
                   }}});
}

void ReadApi(const YAML::Node& node, const std::string& key, std::optional<std::string>* socket) {
  Map(node, key, {{"socket", [&](const YAML::Node& value, const std::string& name) {
                     Scalar(value, name, kApiSocketAllowed, [&](const std::string& text) {
                       *socket = text == "off" ? "" : text;
                       return text == "off" || ValidSocketPath(text);
                     });
                   }}});
}

// Returns the handlers of the keys that may change while the daemon runs. The chart's values.schema.json has
// each of them twice, the second time for named configurations. tests/charts/test_configuration.py tells of
// one that is missing there. deviceplugin/README.md says where else a key stands.
yaml::Handlers LiveKeys(Config* config) {
  arbiter::LiveSettings* live = &config->arbiter.live;
  return {{"gpus", [live](const auto& value, const auto& key) { ReadGpus(value, key, &live->gpus); }},
          {"watchdog",
           [live](const auto& value, const auto& key) { ReadWatchdog(value, key, &live->turn.watchdog); }},
          {"mode",
           [live](const auto& value, const auto& key) {
             Scalar(value, key, kModeAllowed, [&](const std::string& text) {
               const auto policy = ParsePolicy(text);
               live->policy = policy.value_or(live->policy);
               return policy.has_value();
             });
           }},
          {"tie_window_us",
           [live](const auto& value, const auto& key) {
             Scalar(value, key, kTieWindowAllowed,
                    [&](const std::string& text) { return ParseTieWindow(text, &live->turn.policy); });
           }},
          {"quantum_us",
           [live](const auto& value, const auto& key) {
             Scalar(value, key, kQuantumAllowed,
                    [&](const std::string& text) { return ParseQuantum(text, &live->turn.policy); });
           }},
          {"guard",
           [live](const auto& value, const auto& key) {
             Scalar(value, key, "on or off", [&](const std::string& text) {
               live->guard = text == "on";
               return text == "on" || text == "off";
             });
           }},
          {"longest_wait_ms",
           [live](const auto& value, const auto& key) {
             Integer(value, key, 1, 60'000,
                     [&](std::int64_t ms) { live->turn.policy.longest_wait = ms * 1'000'000; });
           }},
          {"log_format",
           [config](const auto& value, const auto& key) {
             Scalar(value, key, "text or json", [&](const std::string& text) {
               config->log_format = text == "json" ? logging::Format::kJson : logging::Format::kText;
               return text == "json" || text == "text";
             });
           }},
          {"log_level", [config](const auto& value, const auto& key) {
             Scalar(value, key, kLogLevelAllowed, [&](const std::string& text) {
               const auto level = logging::ParseLevel(text);
               config->log_level = level.value_or(config->log_level);
               return level.has_value();
             });
           }}};
}

// Returns the handlers of the keys that take effect only at a start. NeedRestart() (config.cc) compares each
// of them, so that the daemon says so.
yaml::Handlers FixedKeys(Config* config, std::optional<std::string>* api_socket) {
  return {{"socket",
           [config](const auto& value, const auto& key) { ReadSocket(value, key, &config->arbiter.socket); }},
          {"limits",
           [config](const auto& value, const auto& key) { ReadLimits(value, key, &config->arbiter.limits); }},
          {"metrics", [config](const auto& value,
                               const auto& key) { ReadMetrics(value, key, &config->metrics_listen); }},
          {"api", [api_socket](const auto& value, const auto& key) { ReadApi(value, key, api_socket); }},
          {"trace_file",
           [config](const auto& value, const auto& key) {
             Scalar(value, key, "an absolute file name", [&](const std::string& text) {
               config->trace_file = text;
               return text.size() > 1 && text.front() == '/';
             });
           }},
          {"transport",
           [config](const auto& value, const auto& key) {
             Scalar(value, key, signals::kTransportAllowed, [&](const std::string& text) {
               const auto transport = signals::ParseTransport(text);
               config->transport = transport.value_or(config->transport);
               return transport.has_value();
             });
           }},
          {"profiles", [config](const auto& value, const auto& key) {
             Scalar(value, key, kProfilesAllowed, [&](const std::string& text) {
               config->profiles = text == "off" ? "" : text;
               return text == "off" || ValidDirectory(text);
             });
           }}};
}

std::string ApiSocketBeside(const std::string& socket) {
  return socket.substr(0, socket.rfind('/') + 1) + "api.sock";
}

}  // namespace

void ReadConfig(const YAML::Node& root, Config* config, yaml::Handlers handlers) {
  std::optional<std::string> api_socket;
  if (!config->api_socket.empty()) api_socket = config->api_socket;
  handlers.merge(FixedKeys(config, &api_socket));
  handlers.merge(LiveKeys(config));
  if (!root.IsNull()) Map(root, "", handlers);  // null: an empty file, which leaves all defaults
  config->api_socket = api_socket.value_or(ApiSocketBeside(config->arbiter.socket.path));
}

void ReadLiveConfig(const YAML::Node& node, const std::string& key, Config* config, yaml::Handlers handlers) {
  handlers.merge(LiveKeys(config));
  if (!node.IsNull()) Map(node, key, handlers);
}

std::optional<Config> ParseYamlConfig(const std::string& text, const std::string& name, std::string* error) {
  Config config;
  if (!yaml::Parse(
          text, name, [&config](const YAML::Node& root) { ReadConfig(root, &config); }, error)) {
    return std::nullopt;
  }
  return config;
}

std::optional<Config> ReadYamlConfig(const std::string& path, std::string* error) {
  const auto text = files::ReadFile(path, error);
  if (!text) return std::nullopt;
  return ParseYamlConfig(*text, path, error);
}

}  // namespace crossover::deviceplugin
