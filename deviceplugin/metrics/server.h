// Serves HTTP: /metrics, /healthz (the arbiter's thread answers; if it does not, the daemon should be
// restarted) and /readyz (the daemon has all that it needs from other services).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

class CivetServer;
namespace prometheus {
class Collectable;
}  // namespace prometheus

namespace crossover::deviceplugin {

class MetricsServer {
 public:
  // The threads of the server call these functions.
  struct Sources {
    std::vector<std::shared_ptr<prometheus::Collectable>> metrics;
    std::function<bool()> alive;
    // Returns what the daemon needs from other services and does not have, one line each. If it is null,
    // nothing is missing.
    std::function<std::vector<std::string>()> missing;
    // Returns the status of the answer to a request for metrics with this Authorization header: 200, 401,
    // 403 or 503. It may block. If it is null, every client gets the metrics.
    std::function<int(const std::string& authorization)> access;
  };

  // Listens on host:port; [::]:port stands for all addresses of IPv4 and IPv6. Returns null on failure, with
  // the reason in `error`.
  static std::unique_ptr<MetricsServer> Start(const std::string& listen, Sources sources, std::string* error);
  ~MetricsServer();
  int port() const { return port_; }  // the port in use, also if `listen` has port 0

 private:
  class Pages;
  MetricsServer();

  int port_ = 0;
  std::unique_ptr<Pages> pages_;
  std::unique_ptr<CivetServer> server_;  // last: it uses the pages
};

}  // namespace crossover::deviceplugin
