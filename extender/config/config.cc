#include "extender/config/config.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "common/base/all_addresses.h"
#include "common/base/refusal.h"
#include "common/base/shrink_level.h"
#include "common/config/yaml_map.h"
#include "common/files/read_file.h"
#include "common/text/number.h"

namespace crossover::extender {
namespace {

constexpr std::string_view kNameAllowed = "a name of at most 253 characters";
constexpr std::string_view kPathAllowed = "an absolute path";
constexpr std::size_t kLongestName = 253;

yaml::Handler Text(std::string* target, std::string_view allowed = kNameAllowed) {
  return [target, allowed](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, allowed, [target](const std::string& text) {
      *target = text;
      return !text.empty() && text.size() <= kLongestName;
    });
  };
}

yaml::Handler Path(std::string* target) {
  return [target](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, kPathAllowed, [target](const std::string& text) {
      *target = text;
      return text.size() > 1 && text.front() == '/';
    });
  };
}

yaml::Handler NameOrOff(std::string* target) {
  return [target](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, "a name of at most 253 characters, or off", [target](const std::string& text) {
      *target = text == "off" ? "" : text;
      return !text.empty() && text.size() <= kLongestName;
    });
  };
}

// Returns a handler that reads a number, which may have a decimal point, from `low` to `high`.
yaml::Handler Real(double* target, double low, double high) {
  return [=](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, "a number from " + text::Decimal(low) + " to " + text::Decimal(high),
                 [&](const std::string& text) {
                   char* end = nullptr;
                   *target = std::strtod(text.c_str(), &end);
                   return !text.empty() && *end == '\0' && *target >= low && *target <= high;
                 });
  };
}

bool TakeEndpoint(const std::string& text, Endpoint* endpoint) {
  constexpr std::int64_t kMostPorts = 65'535;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const std::string address = text.substr(0, colon);
  // The HTTP server takes no other address of IPv6.
  if (address != base::kAllAddresses && address.find(':') != std::string::npos) return false;
  const auto port = text::ParseInteger(std::string_view(text).substr(colon + 1), 1, kMostPorts);
  if (!port) return false;
  *endpoint = {.address = address, .port = static_cast<int>(*port)};
  return true;
}

yaml::Handler Listen(Endpoint* target) {
  return [target](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, "IPv4 address:port or [::]:port, with a port from 1 to 65535, or off",
                 [&](const std::string& text) {
                   if (text == "off") target->port = 0;
                   return text == "off" || TakeEndpoint(text, target);
                 });
  };
}

// The scheduler's verbs decide where pods go, and they do not authenticate the caller. So they listen on
// localhost alone.
yaml::Handler ListenToScheduler(Endpoint* target) {
  return [target](const YAML::Node& value, const std::string& key) {
    yaml::Scalar(value, key, "127.0.0.1:port, with a port from 1 to 65535", [&](const std::string& text) {
      return TakeEndpoint(text, target) && target->address == "127.0.0.1";
    });
  };
}

void ReadList(const YAML::Node& node, const std::string& key, std::vector<std::string>* list) {
  if (!node.IsSequence()) yaml::Reject(node, key, "a list of names");
  list->clear();
  for (const auto& item : node) Text (&list->emplace_back())(item, key);
}

// Reads the levels of crossover.dev/shrink that are allowed, without off, which always is.
void ReadLevels(const YAML::Node& node, const std::string& key,
                std::optional<std::vector<std::string>>* levels) {
  if (!node.IsSequence()) yaml::Reject(node, key, "a list of levels");
  levels->emplace();
  for (const auto& item : node) {
    yaml::Scalar(item, key, base::kShrinkLevelsInWords, [levels](const std::string& text) {
      const base::ShrinkLevelName* row = base::ShrinkLevelOf(text.c_str());
      if (row != nullptr && row->level != base::ShrinkLevel::kOff) (*levels)->push_back(text);
      return row != nullptr;
    });
  }
}

void ReadGroups(const YAML::Node& node, const std::string& key,
                std::vector<std::vector<std::string>>* groups) {
  if (!node.IsSequence()) yaml::Reject(node, key, "a list of lists of namespaces");
  groups->clear();
  for (const auto& item : node) ReadList(item, key, &groups->emplace_back());
}

// Reads a map from models of GPUs to their speeds.
void ReadSpeeds(const YAML::Node& node, const std::string& key, GpuSpeeds* speeds) {
  constexpr double kLeast = 0.001, kMost = 1'000.0;
  if (!node.IsMap()) yaml::Reject(node, key, "a map from models of GPUs to numbers");
  speeds->clear();
  for (const auto& entry : node) {
    std::string model;
    Text (&model)(entry.first, key);
    if (speeds->contains(model)) yaml::Reject(entry.first, key, "each model once");
    Real(&(*speeds)[model], kLeast, kMost)(entry.second, key + "." + model);
  }
}

yaml::Handler Section(yaml::Handlers handlers) {
  return [handlers = std::move(handlers)](const YAML::Node& node, const std::string& key) {
    yaml::Map(node, key, handlers);
  };
}

yaml::Handlers PlacementKeys(placement::Settings* settings) {
  return {
      {"sharing",
       yaml::Word<placement::Sharing>(&settings->sharing, {{"when-full", placement::Sharing::kWhenFull},
                                                           {"always", placement::Sharing::kAlways}})},
      {"namespace_groups",
       [settings](const auto& node, const auto& key) { ReadGroups(node, key, &settings->namespace_groups); }},
      {"efficiency", Real(&settings->efficiency, 0.1, 1.0)},
      {"min_gain", Real(&settings->min_gain, 1.0, 10.0)},
      {"memory_margin", Real(&settings->memory_margin, 0.0, 1.0)},
      {"context_reserve_mib",
       [settings](const auto& node, const auto& key) {
         yaml::Integer(node, key, 0, 65'536, [settings](std::int64_t mib) {
           settings->context_reserve = static_cast<placement::Bytes>(mib) << 20;
         });
       }},
      {"spanning_bonus", Real(&settings->spanning_bonus, 0.0, 1.0)},
      {"starvation_s", Real(&settings->starvation_s, 0.0, 31'536'000.0)},
      {"starvation_runs", Real(&settings->starvation_runs, 0.0, 1'000.0)}};
}

yaml::Handlers GangKeys(GangSettings* gangs) {
  constexpr double kDay = 86'400.0;
  return {{"deadline_s", Real(&gangs->deadline_s, 1.0, kDay)},
          {"hold_s", Real(&gangs->hold_s, 1.0, 3'600.0)},
          // A negative value means never.
          {"ungate_after_s", Real(&gangs->ungate_after_s, -1.0, kDay)},
          {"hold_off_s", Real(&gangs->hold_off_s, 0.1, kDay)},
          {"most_hold_off_s", Real(&gangs->most_hold_off_s, 0.1, kDay)},
          {"exclude_s", Real(&gangs->exclude_s, 0.1, kDay)},
          {"most_exclude_s", Real(&gangs->most_exclude_s, 0.1, kDay)},
          {"preemption", yaml::Word<bool>(&gangs->preemption, {{"on", true}, {"off", false}})},
          {"spare_s", Real(&gangs->spare_s, 0.0, kDay)},
          {"gpu_speeds",
           [gangs](const auto& node, const auto& key) { ReadSpeeds(node, key, &gangs->gpu_speeds); }},
          {"topology", [gangs](const auto& node, const auto& key) { ReadList(node, key, &gangs->domains); }}};
}

yaml::Handlers WebhookKeys(WebhookConfig* webhook) {
  return {
      {"listen", Listen(&webhook->listen)},
      {"service", Text(&webhook->service)},
      {"configuration", Text(&webhook->configuration)},
      {"secret", Text(&webhook->secret)},
      {"file", Path(&webhook->file)},
      {"certificate_file", Path(&webhook->certificate_file)},
      {"key_file", Path(&webhook->key_file)},
      {"runtime_class", Text(&webhook->runtime_class)},
      {"shm", yaml::Word<bool>(&webhook->node_shm, {{"node", true}, {"pod", false}})},
      {"autoscalers",
       yaml::Word<bool>(&webhook->protect_from_autoscalers, {{"protect", true}, {"leave", false}})},
      {"shrink", [webhook](const auto& node, const auto& key) { ReadLevels(node, key, &webhook->shrink); }},
      {"drain_s", Real(&webhook->drain_s, 0.0, 60.0)}};
}

yaml::Handlers Keys(ExtenderConfig* config) {
  kube::Access* access = &config->api_server;
  return {
      {"log_level",
       [config](const auto& node, const auto& key) {
         yaml::Scalar(node, key, "error, warn, info or debug", [config](const std::string& text) {
           const auto level = logging::ParseLevel(text);
           if (level) config->log_level = *level;
           return level.has_value();
         });
       }},
      {"log_format", yaml::Word<logging::Format>(&config->log_format, {{"text", logging::Format::kText},
                                                                       {"json", logging::Format::kJson}})},
      {"api_server", Section({{"server", Text(&access->server, "https://host:port")},
                              {"ca_file", Path(&access->ca_file)},
                              {"token_file", Path(&access->token_file)}})},
      {"namespace", Text(&config->name_space)},
      {"host", Text(&config->host)},
      {"lease", NameOrOff(&config->lease)},
      {"scheduler", Section({{"listen", ListenToScheduler(&config->scheduler)}})},
      {"health", Section({{"listen", Listen(&config->health)}})},
      {"metrics", Section({{"listen", Listen(&config->metrics)}})},
      {"webhook", Section(WebhookKeys(&config->webhook))},
      {"gangs", Section(GangKeys(&config->gangs))},
      {"shares", Section({{"settle_s", Real(&config->shares.settle_s, 1.0, 3'600.0)}})},
      {"placement", Section(PlacementKeys(&config->gangs.placement))}};
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the program sets no variables
  return value != nullptr ? value : "";
}

// Sets what the file leaves out from the environment. Returns false, with the reason in `error`, if
// something is missing.
bool Complete(ExtenderConfig* config, std::string* error) {
  if (config->name_space.empty()) config->name_space = Variable("POD_NAMESPACE");
  if (config->name_space.empty()) {
    *error = base::Refusal("namespace",
                           "a namespace's name in the configuration, or as POD_NAMESPACE in the environment",
                           "neither");
    return false;
  }
  if (config->host.empty()) {
    char name[256] = {};
    if (gethostname(name, sizeof name - 1) == 0) config->host = name;
  }
  if (!config->api_server.server.empty()) return true;
  const auto access = kube::InClusterAccess(error);
  if (access) config->api_server = *access;
  if (!access) *error = "api_server.server: not set, and " + *error;
  return access.has_value();
}

}  // namespace

std::optional<ExtenderConfig> ParseConfig(const std::string& text, const std::string& name,
                                          std::string* error) {
  ExtenderConfig config;
  const auto read = [&config](const YAML::Node& root) {
    if (!root.IsNull()) yaml::Map(root, "", Keys(&config));  // an empty file: all defaults
    const WebhookConfig& webhook = config.webhook;
    if (webhook.certificate_file.empty() != webhook.key_file.empty()) {
      throw yaml::Fault(
          root.Mark(), base::Refusal("webhook", "certificate_file and key_file together, or neither",
                                     webhook.key_file.empty() ? "certificate_file alone" : "key_file alone"));
    }
  };
  if (!yaml::Parse(text, name, read, error)) return std::nullopt;
  return config;
}

std::optional<ExtenderConfig> ReadConfig(const std::string& path, std::string* error) {
  const auto text = files::ReadFile(path, error);
  if (!text) return std::nullopt;
  auto config = ParseConfig(*text, path, error);
  if (!config || !Complete(&*config, error)) return std::nullopt;
  return config;
}

int CheckConfig(const std::string& path) {
  std::string error;
  const auto text = files::ReadFile(path, &error);
  if (text && ParseConfig(*text, path, &error)) {
    std::printf("%s: valid\n", path.c_str());
    return 0;
  }
  std::fprintf(stderr, "crossover-extender: %s\n", error.c_str());
  return 2;
}

}  // namespace crossover::extender
