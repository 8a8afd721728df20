// What the daemon says over HTTP: /metrics, /healthz (it keeps turns: else it should be started anew),
// /readyz (it has all that it needs from others).
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
  // Called on threads of the server.
  struct Sources {
    std::vector<std::shared_ptr<prometheus::Collectable>> metrics;
    std::function<bool()> alive;
    std::function<std::vector<std::string>()>
        missing;  // what it needs and has not, a line each; may be null: nothing
    // The status of an answer to who asks for metrics with this header: 200, 401, 403 or 503. May wait; null:
    // everybody gets them.
    std::function<int(const std::string& authorization)> access;
  };

  // Listens on host:port; null on failure, with the reason in `error`.
  static std::unique_ptr<MetricsServer> Start(const std::string& listen, Sources sources, std::string* error);
  ~MetricsServer();
  int port() const;  // the one it has, where 0 was asked for

 private:
  class Pages;
  MetricsServer();

  std::unique_ptr<Pages> pages_;
  std::unique_ptr<CivetServer> server_;  // last: it uses them
};

}  // namespace crossover::deviceplugin
