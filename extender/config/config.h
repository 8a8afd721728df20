// Reads the configuration of crossover-extender.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/access.h"
#include "common/logging/log.h"
#include "extender/gang/settings.h"
#include "extender/shares/shares.h"

namespace crossover::extender {

struct Endpoint {
  std::string address = "0.0.0.0";  // or [::], which is all addresses of IPv4 and IPv6
  int port = 0;                     // 0: no listener
};

struct WebhookConfig {
  Endpoint listen{.port = 8443};
  std::string service = "crossover-extender";         // name of the Service by which API servers reach it
  std::string configuration = "crossover-admission";  // name of the MutatingWebhookConfiguration
  std::string secret = "crossover-admission";         // the Secret with its keys
  std::string file = "/run/crossover-extender/serving.pem";  // the served certificate and key
  // Both are set if another program, such as cert-manager, keeps the certificate. Both are empty if the
  // extender keeps its own.
  std::string certificate_file, key_file;
  std::string runtime_class;
  bool node_shm = false;  // /dev/shm of pods that share is the node's, and not a volume of theirs
  // Pods that share get the annotations by which autoscalers leave them where they run.
  bool protect_from_autoscalers = true;
  // The levels that crossover.dev/shrink may have beside off. None: all that this version has.
  std::optional<std::vector<std::string>> shrink;
  // The webhook still answers for this long after the program was told to stop: API servers learn of it late.
  double drain_s = 0;
};

struct ExtenderConfig {
  logging::Level log_level = logging::Level::kInfo;
  logging::Format log_format = logging::Format::kText;
  kube::Access api_server;                    // empty: the pod's service account
  std::string name_space;                     // of the extender; empty: POD_NAMESPACE
  std::string host;                           // host name of its pod; empty: the name of the machine
  std::string lease = "crossover-scheduler";  // of the scheduler in the same pod; empty: always leads
  Endpoint scheduler{.address = "127.0.0.1", .port = 8480};
  Endpoint health{.port = 8481};
  Endpoint metrics{.port = 8482};
  WebhookConfig webhook;
  GangSettings gangs;
  ShareSettings shares;
};

// Returns the configuration in `text`, the content of the file `name`. If anything in it is refused,
// returns nothing and sets `error` to a line with the position, the key, what is expected and the value.
std::optional<ExtenderConfig> ParseConfig(const std::string& text, const std::string& name,
                                          std::string* error);

// Returns the configuration in the file at `path`, completed from the environment. If the file cannot be
// read or ParseConfig() refuses it, returns nothing and sets `error` to a line that says why.
std::optional<ExtenderConfig> ReadConfig(const std::string& path, std::string* error);

// Prints to standard output that the file is valid, or to standard error why it is not. Returns the
// program's exit code.
int CheckConfig(const std::string& path);

}  // namespace crossover::extender
