#include "deviceplugin/standalone.h"

#include <time.h>

#include <cstdio>
#include <memory>

#include "deviceplugin/api/server.h"
#include "deviceplugin/books/books.h"
#include "deviceplugin/config/yaml_config.h"
#include "deviceplugin/daemon.h"
#include "deviceplugin/metrics/arbiter_metrics.h"
#include "deviceplugin/metrics/server.h"

namespace crossover::deviceplugin {
namespace {

double ReadSeconds(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

int Fail(const std::string& error) {
  std::fprintf(stderr, "crossover-deviceplugin: %s\n", error.c_str());
  return 2;
}

}  // namespace

int RunStandalone(const std::string& config_path) {
  std::string error;
  const std::optional<Config> config = ReadYamlConfig(config_path, &error);
  if (!config) return Fail(error);

  const auto metrics = std::make_shared<ArbiterMetrics>();
  Books books;
  Daemon daemon(*config);
  if (!daemon.Start({metrics.get(), &books}, &error)) return Fail(error);
  metrics->set_cpu_seconds([clock = daemon.arbiter_clock()] { return ReadSeconds(clock); });

  std::unique_ptr<MetricsServer> server;
  if (!config->metrics_listen.empty()) {
    server = MetricsServer::Start(config->metrics_listen, metrics, &error);
    if (server == nullptr) return Fail(error);
    logging::Info("metrics on port " + std::to_string(server->port()));
  }
  std::unique_ptr<ApiServer> api;
  if (!config->api_socket.empty()) {
    api = ApiServer::Start(config->api_socket,
                           {.books = &books,
                            .modes = &daemon,
                            .version = CROSSOVER_VERSION,
                            .arbiter_socket = config->arbiter.socket.path},
                           &error);
    if (api == nullptr) return Fail(error);
    logging::Info("api on " + config->api_socket);
  }
  daemon.Run([&config_path](std::string* why) { return ReadYamlConfig(config_path, why); });
  return 0;
}

}  // namespace crossover::deviceplugin
