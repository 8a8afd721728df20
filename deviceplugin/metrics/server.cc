#include "deviceplugin/metrics/server.h"

#include <prometheus/exposer.h>

#include <exception>
#include <utility>

namespace crossover::deviceplugin {

std::unique_ptr<MetricsServer> MetricsServer::Start(const std::string& listen,
                                                    const std::shared_ptr<prometheus::Collectable>& metrics,
                                                    std::string* error) {
  try {
    auto exposer = std::make_unique<prometheus::Exposer>(listen, 2);
    exposer->RegisterCollectable(metrics);
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(exposer)));
  } catch (const std::exception&) {
    *error =
        "metrics.listen: " + listen + ": cannot listen there (in use, or not an address of this machine)";
    return nullptr;
  }
}

MetricsServer::MetricsServer(std::unique_ptr<prometheus::Exposer> exposer) : exposer_(std::move(exposer)) {}

MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const {
  const std::vector<int> ports = exposer_->GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

}  // namespace crossover::deviceplugin
