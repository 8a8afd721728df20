// The extender's configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/kube/access.h"
#include "common/logging/log.h"
#include "extender/gang/settings.h"

namespace crossover::extender {

struct Endpoint {
  std::string address = "0.0.0.0";
  int port = 0;  // 0: nobody listens
};

struct WebhookConfig {
  Endpoint listen{.port = 8443};
  std::string service = "crossover-extender";                // by whose name API servers reach it
  std::string configuration = "crossover-admission";         // of the MutatingWebhookConfiguration
  std::string secret = "crossover-admission";                // where its keys are kept
  std::string file = "/run/crossover-extender/serving.pem";  // what of them is served
  // Of others, cert-manager say; both empty: its own.
  std::string certificate_file, key_file;
  std::string runtime_class;
  double drain_s = 0;  // for how long it still answers after it was told to end: API servers learn of it late
};

struct ExtenderConfig {
  logging::Level log_level = logging::Level::kInfo;
  logging::Format log_format = logging::Format::kText;
  kube::Access api_server;                    // empty: as a pod has it
  std::string name_space;                     // its own; empty: POD_NAMESPACE
  std::string host;                           // of its pod; empty: the machine's name
  std::string lease = "crossover-scheduler";  // of the scheduler beside it; empty: it always leads
  Endpoint scheduler{.address = "127.0.0.1", .port = 8480};
  Endpoint health{.port = 8481};
  Endpoint metrics{.port = 8482};
  WebhookConfig webhook;
  GangSettings gangs;
};

// Of a file's text; `name`: the file's. Nothing, with the line, the key, the value and what is allowed in
// `error`, where anything in it is not allowed.
std::optional<ExtenderConfig> ParseConfig(const std::string& text, const std::string& name,
                                          std::string* error);

// Likewise, and completed from the environment.
std::optional<ExtenderConfig> ReadConfig(const std::string& path, std::string* error);

// Says whether a file is valid, on standard output, else what is not, on standard error; a program's exit
// code.
int CheckConfig(const std::string& path);

}  // namespace crossover::extender
