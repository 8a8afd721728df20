// What every node daemon does, whoever it serves: turns, books, profiles, metrics, its API.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/config/config.h"
#include "deviceplugin/daemon.h"

namespace prometheus {
class Collectable;
}

namespace crossover::deviceplugin {

class Books;

// What a daemon has that does more, while it serves.
class Companion {
 public:
  virtual ~Companion() = default;
  virtual std::shared_ptr<prometheus::Collectable> metrics() = 0;
  // What it needs from others and has not, a line each. From any thread.
  virtual std::vector<std::string> Missing() = 0;
  // As MetricsServer::Sources::access; on its threads, which may wait.
  virtual int MetricsStatusFor(const std::string& authorization) = 0;
  // Nobody waits for others from here on.
  virtual void StopAsking() = 0;
};

// Of a daemon that does more.
struct Extras {
  const arbiter::IdentitySource* identities = nullptr;  // outlives the daemon
  // Called once clients can connect and signals are blocked: threads are made from here on. What it returns
  // lives until the daemon stops.
  std::function<std::unique_ptr<Companion>(Daemon* daemon, Books* books)> on_started;
  Daemon::Reread reread;             // the configuration, at SIGHUP
  std::string mps_pipe_directory{};  // of the jobs; empty: it is not known
};

// Serves until told to stop. Returns the program's exit code: 2 where something is wrong with what the
// configuration names.
int Serve(const Config& config, const Extras& extras);

// Says why the program ends. Its exit code.
int Fail(const std::string& error);

}  // namespace crossover::deviceplugin
