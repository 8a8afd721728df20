// Serves /metrics over HTTP.
#pragma once

#include <memory>
#include <string>

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace crossover::deviceplugin {

class MetricsServer {
 public:
  // Listens on host:port; null on failure, with the reason in `error`.
  static std::unique_ptr<MetricsServer> Start(const std::string& listen,
                                              const std::shared_ptr<prometheus::Collectable>& metrics,
                                              std::string* error);
  ~MetricsServer();
  int port() const;  // the one it has, where 0 was asked for

 private:
  explicit MetricsServer(std::unique_ptr<prometheus::Exposer> exposer);

  std::unique_ptr<prometheus::Exposer> exposer_;
};

}  // namespace crossover::deviceplugin
