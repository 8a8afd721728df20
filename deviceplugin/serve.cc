#include "deviceplugin/serve.h"

#include <time.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "common/metrics/build_info.h"
#include "deviceplugin/daemon.h"
#include "deviceplugin/metrics/arbiter_metrics.h"
#include "deviceplugin/metrics/gpu_metrics.h"
#include "deviceplugin/metrics/job_metrics.h"
#include "deviceplugin/metrics/reduction_metrics.h"
#include "deviceplugin/metrics/server.h"
#include "deviceplugin/metrics/signal_metrics.h"
#include "deviceplugin/nvml/memory_watch.h"
#include "deviceplugin/profile_keeper.h"
#include "deviceplugin/rpc/server.h"
#include "deviceplugin/stats/stats_store.h"

namespace crossover::deviceplugin {
namespace {

using metrics::BuildInfo;

double ReadSeconds(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// A Profiles holds the store of profiles, which outlives the daemon.
struct Profiles {
  std::unique_ptr<ProfileStore> store;  // null: profiles are not kept
  std::unique_ptr<ProfileKeeper> keeper;

  bool Open(const std::string& directory, StatsStore* stats_store, std::string* error) {
    if (directory.empty()) return true;
    store = ProfileStore::Open(directory, error);
    if (store == nullptr) {
      *error = "profiles: " + *error;
      return false;
    }
    keeper = std::make_unique<ProfileKeeper>(stats_store, store.get());
    return true;
  }
};

}  // namespace

int Fail(const std::string& error) {
  std::fprintf(stderr, "crossover-deviceplugin: %s\n", error.c_str());
  return 2;
}

int Serve(const Config& config, const ServeOptions& options) {
  std::string error;
  const auto metrics = std::make_shared<ArbiterMetrics>();
  StatsStore stats_store;
  logging::SetLevel(config.log_level);
  logging::SetFormat(config.log_format);
  Profiles profiles;
  if (!profiles.Open(config.profiles, &stats_store, &error)) return Fail(error);
  std::vector<Sink*> sinks = {metrics.get(), &stats_store};
  if (profiles.keeper) sinks.push_back(profiles.keeper.get());
  Daemon daemon(config, profiles.store.get(), options.identities);
  if (!daemon.Start(std::move(sinks), &error)) return Fail(error);
  const std::unique_ptr<NodeExtension> node_extension =
      options.on_started ? options.on_started(&daemon, &stats_store) : nullptr;
  const MemoryWatch memory(NvmlLibrary::kName, &stats_store);
  if (profiles.store) {
    metrics->set_profile_failures([store = profiles.store.get()] { return store->write_failures(); });
    logging::Info("profiles of " + std::to_string(profiles.store->All().size()) + " jobs in " +
                  config.profiles);
  }
  if (!config.trace_file.empty()) metrics->set_trace_lost([&daemon] { return daemon.trace_lost(); });
  metrics->set_refusals([&daemon] { return daemon.refusals(); });
  metrics->set_cpu_seconds([clock = daemon.arbiter_clock()] { return ReadSeconds(clock); });

  std::unique_ptr<MetricsServer> server;
  if (!config.metrics_listen.empty()) {
    const auto jobs = std::make_shared<JobMetrics>([&stats_store] { return stats_store.Gpus(); });
    const auto reductions =
        std::make_shared<ReductionMetrics>([&stats_store] { return stats_store.Reductions(); });
    const auto gpus = std::make_shared<GpuMetrics>([&memory] { return memory.usages(); });
    const auto build = std::make_shared<BuildInfo>(CROSSOVER_VERSION);
    const auto signals = std::make_shared<SignalMetrics>([&daemon] { return daemon.signals(); });
    MetricsServer::Sources sources{.metrics = {build, metrics, jobs, reductions, gpus, signals},
                                   .alive = [&daemon] { return daemon.alive(); },
                                   .missing = {},
                                   .access = {}};
    if (node_extension != nullptr) {
      sources.metrics.push_back(node_extension->metrics());
      sources.missing = [other = node_extension.get()] { return other->Missing(); };
      sources.access = [other = node_extension.get()](const std::string& authorization) {
        return other->MetricsStatusFor(authorization);
      };
    }
    server = MetricsServer::Start(config.metrics_listen, std::move(sources), &error);
    if (server == nullptr) return Fail(error);
    logging::Info("metrics on port " + std::to_string(server->port()));
  }
  std::unique_ptr<ApiServer> api;
  if (!config.api_socket.empty()) {
    std::function<MpsNews()> mps;
    if (node_extension != nullptr) mps = [other = node_extension.get()] { return other->Mps(); };
    api = ApiServer::Start(config.api_socket,
                           {.stats_store = &stats_store,
                            .modes = &daemon,
                            .profiles = profiles.store.get(),
                            .version = CROSSOVER_VERSION,
                            .arbiter_socket = config.arbiter.socket.path,
                            .mps_pipe_directory = options.mps_pipe_directory,
                            .mps = std::move(mps),
                            .signals = [&daemon] { return daemon.signals(); }},
                           &error);
    if (api == nullptr) return Fail(error);
    logging::Info("api on " + config.api_socket);
  }
  daemon.Run(options.reread);
  if (node_extension != nullptr) node_extension->StopAsking();
  return 0;
}

}  // namespace crossover::deviceplugin
