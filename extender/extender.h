// crossover-extender: places gangs beside a scheduler, answers the API server about pods, keeps profiles.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "common/kube/metrics_access.h"
#include "extender/admission/admission.h"
#include "extender/cluster/feed.h"
#include "extender/config/config.h"
#include "extender/election/follower.h"
#include "extender/gang/controller.h"
#include "extender/gang/kube_api.h"
#include "extender/http/server.h"
#include "extender/metrics/metrics.h"
#include "extender/profiles/keeper.h"
#include "extender/scheduler/verbs.h"

namespace crossover::extender {

class Extender {
 public:
  // Everything runs from here on. Throws std::runtime_error where it cannot listen.
  explicit Extender(const ExtenderConfig& config);
  ~Extender();

  // What it waits for before it can do its work, a line each; empty: it is ready. Whoever leads is not among
  // them: a replica is ready to.
  std::vector<std::string> Missing() const;

  // It is to end soon: whoever asks the webhook is to ask another one's. From any thread.
  void Drain();

 private:
  class Told;  // passes on what the feed tells

  bool Leads() const;
  void Count();
  void ListenForHealth();
  void ListenForMetrics();

  const ExtenderConfig config_;
  std::atomic<Feed*> known_{nullptr};           // once it is made
  const std::unique_ptr<LeaseFollower> lease_;  // null: it always leads
  Metrics metrics_;
  KubeApi api_;
  Controller controller_;
  const std::unique_ptr<Told> told_;
  Feed feed_;
  Verbs verbs_;
  ProfileKeeper profiles_;
  kube::MetricsAccess access_;
  std::unique_ptr<admission::Admission> admission_;  // null: there is no webhook
  // Last: they use the others.
  std::vector<std::unique_ptr<HttpServer>> servers_;
};

// Serves until told to stop; the program's exit code: 2 where something is wrong with the configuration or
// with what it names.
int RunExtender(const std::string& config_path);

}  // namespace crossover::extender
