// Runs the parts that every daemon has, with or without Kubernetes: turns, StatsStore, profiles, metrics and
// the API.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/config/config.h"
#include "deviceplugin/daemon.h"
#include "deviceplugin/mps/news.h"

namespace prometheus {
class Collectable;
}

namespace crossover::deviceplugin {

class StatsStore;

// A NodeExtension is the part of a daemon that only a Kubernetes node has (NodeAgent). It lives while the
// daemon serves.
class NodeExtension {
 public:
  virtual ~NodeExtension() = default;
  virtual std::shared_ptr<prometheus::Collectable> metrics() = 0;
  // Returns what it needs from other services and does not have, one line each. Any thread may call it.
  virtual std::vector<std::string> Missing() = 0;
  // Returns the state of MPS, as far as it is known. Any thread may call it.
  virtual MpsNews Mps() = 0;
  // Returns the HTTP status for a request for metrics with this Authorization header, as
  // MetricsServer::Sources::access does. The threads of the metrics server call it, and it may block.
  virtual int MetricsStatusFor(const std::string& authorization) = 0;
  // Makes calls that wait for other services return, and lets no later call wait.
  virtual void StopAsking() = 0;
};

// ServeOptions holds what differs between daemons.
struct ServeOptions {
  const arbiter::IdentitySource* identities = nullptr;  // outlives the daemon
  // Serve() calls this once clients can connect and signals are blocked: threads may be created from then on.
  // Its result lives until the daemon has stopped.
  std::function<std::unique_ptr<NodeExtension>(Daemon* daemon, StatsStore* stats_store)> on_started;
  Daemon::Reread reread;             // reads the configuration at SIGHUP
  std::string mps_pipe_directory{};  // where MPS listens for the jobs; empty: unknown
};

// Serves until SIGTERM or SIGINT. Returns the program's exit code: 2 if something that the configuration
// names is wrong.
int Serve(const Config& config, const ServeOptions& options);

// Prints why the program ends to standard error. Returns its exit code, 2.
int Fail(const std::string& error);

}  // namespace crossover::deviceplugin
