#include "deviceplugin/config/yaml_config.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>

#include "deviceplugin/arbiter/messages.h"
#include "deviceplugin/config/values.h"

namespace crossover::deviceplugin {
namespace {

// What is wrong with the file; never leaves this file.
struct Fault : std::runtime_error {
  Fault(const YAML::Mark& mark, const std::string& text) : std::runtime_error(text), line(mark.line + 1) {}
  int line;
};

std::string Printed(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar().empty() ? "\"\"" : node.Scalar();
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a map" : "nothing";
}

[[noreturn]] void Reject(const YAML::Node& node, const std::string& key, std::string_view allowed) {
  throw Fault(node.Mark(), key + ": " + Printed(node) + " is not allowed: " + std::string(allowed));
}

// The text of a scalar: `take` returns whether it is allowed.
void Scalar(const YAML::Node& node, const std::string& key, std::string_view allowed,
            const std::function<bool(const std::string&)>& take) {
  if (!node.IsScalar() || !take(node.Scalar())) Reject(node, key, allowed);
}

void Integer(const YAML::Node& node, const std::string& key, std::int64_t low, std::int64_t high,
             const std::function<void(std::int64_t)>& take) {
  Scalar(node, key, std::to_string(low) + " to " + std::to_string(high), [&](const std::string& text) {
    const auto value = ParseInteger(text, low, high);
    if (value) take(*value);
    return value.has_value();
  });
}

using Handler = std::function<void(const YAML::Node& value, const std::string& key)>;
using Handlers = std::map<std::string, Handler>;

std::string Names(const Handlers& handlers) {
  std::string names;
  for (const auto& [name, handler] : handlers) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// Gives each value of a map to its handler. Keys that have none, or that stand twice, are faults.
void Map(const YAML::Node& node, const std::string& prefix, const Handlers& handlers) {
  if (!node.IsMap()) Reject(node, prefix.empty() ? "the file" : prefix, "a map of " + Names(handlers));
  const std::string path = prefix.empty() ? "" : prefix + ".";
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : Printed(entry.first);
    const auto handler = handlers.find(name);
    if (handler == handlers.end()) {
      throw Fault(entry.first.Mark(), path + name + ": unknown key; allowed are " + Names(handlers));
    }
    if (!seen.insert(name).second) throw Fault(entry.first.Mark(), path + name + ": stands twice");
    handler->second(entry.second, path + name);
  }
}

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
                       return *socket == "" || ValidSocketPath(text);
                     });
                   }}});
}

std::string ApiSocketBeside(const std::string& socket) {
  return socket.substr(0, socket.rfind('/') + 1) + "api.sock";
}

Config ReadConfig(const YAML::Node& root) {
  Config config;
  config.api_socket = ApiSocketBeside(config.arbiter.socket.path);
  std::optional<std::string> api_socket;
  if (root.IsNull()) return config;  // an empty file: all defaults
  arbiter::LiveSettings& live = config.arbiter.live;
  Map(root, "",
      {{"socket",
        [&](const auto& value, const auto& key) { ReadSocket(value, key, &config.arbiter.socket); }},
       {"limits",
        [&](const auto& value, const auto& key) { ReadLimits(value, key, &config.arbiter.limits); }},
       {"metrics",
        [&](const auto& value, const auto& key) { ReadMetrics(value, key, &config.metrics_listen); }},
       {"api", [&](const auto& value, const auto& key) { ReadApi(value, key, &api_socket); }},
       {"gpus", [&](const auto& value, const auto& key) { ReadGpus(value, key, &live.gpus); }},
       {"watchdog",
        [&](const auto& value, const auto& key) { ReadWatchdog(value, key, &live.turn.watchdog); }},
       {"mode",
        [&](const auto& value, const auto& key) {
          Scalar(value, key, kModeAllowed, [&](const std::string& text) {
            const auto policy = ParsePolicy(text);
            live.policy = policy.value_or(live.policy);
            return policy.has_value();
          });
        }},
       {"tie_window_us",
        [&](const auto& value, const auto& key) {
          Scalar(value, key, kTieWindowAllowed,
                 [&](const std::string& text) { return ParseTieWindow(text, &live.turn.policy); });
        }},
       {"quantum_us",
        [&](const auto& value, const auto& key) {
          Scalar(value, key, kQuantumAllowed,
                 [&](const std::string& text) { return ParseQuantum(text, &live.turn.policy); });
        }},
       {"guard",
        [&](const auto& value, const auto& key) {
          Scalar(value, key, "on or off", [&](const std::string& text) {
            live.guard = text == "on";
            return text == "on" || text == "off";
          });
        }},
       {"longest_wait_ms",
        [&](const auto& value, const auto& key) {
          Integer(value, key, 1, 60'000,
                  [&](std::int64_t ms) { live.turn.policy.longest_wait = ms * 1'000'000; });
        }},
       {"trace_file",
        [&](const auto& value, const auto& key) {
          Scalar(value, key, "an absolute file name", [&](const std::string& text) {
            config.trace_file = text;
            return text.size() > 1 && text.front() == '/';
          });
        }},
       {"profiles",
        [&](const auto& value, const auto& key) {
          Scalar(value, key, kProfilesAllowed, [&](const std::string& text) {
            config.profiles = text == "off" ? "" : text;
            return text == "off" || ValidDirectory(text);
          });
        }},
       {"log_level", [&](const auto& value, const auto& key) {
          Scalar(value, key, kLogLevelAllowed, [&](const std::string& text) {
            const auto level = logging::ParseLevel(text);
            config.log_level = level.value_or(config.log_level);
            return level.has_value();
          });
        }}});
  config.api_socket = api_socket.value_or(ApiSocketBeside(config.arbiter.socket.path));
  return config;
}

// Does nothing but remember where the newest document started.
class DocumentFinder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
  }
  void OnMapEnd() override {}

  const YAML::Mark& start() const { return start_; }

 private:
  YAML::Mark start_;
};

// YAML::Load ignores what follows the first document, and YAML::LoadAll never ends on some texts that are not
// YAML (an anchor without a node): so the second one is looked for, and no further.
void CheckOneDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentFinder finder;
  if (parser.HandleNextDocument(finder) && parser.HandleNextDocument(finder)) {
    throw Fault(finder.start(), "a second document: one is allowed");
  }
}

}  // namespace

std::optional<Config> ParseYamlConfig(const std::string& text, const std::string& name, std::string* error) {
  try {
    CheckOneDocument(text);
    return ReadConfig(YAML::Load(text));
  } catch (const Fault& fault) {
    *error = name + ":" + std::to_string(fault.line) + ": " + fault.what();
  } catch (const YAML::Exception& fault) {
    *error = name + ":" + std::to_string(fault.mark.line + 1) + ": not YAML: " + fault.msg;
  }
  return std::nullopt;
}

std::optional<Config> ReadYamlConfig(const std::string& path, std::string* error) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (file != nullptr) {
    const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (size == 0) break;
    text.append(buffer.data(), size);
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    *error = path + ": cannot be read: " + std::strerror(errno);
    return std::nullopt;
  }
  return ParseYamlConfig(text, path, error);
}

}  // namespace crossover::deviceplugin
