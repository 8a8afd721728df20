// crossover-extender places gangs for a scheduler, answers the API server's admission reviews, and keeps
// job profiles.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/metrics_access.h"
#include "extender/admission/admission.h"
#include "extender/cluster/informers.h"
#include "extender/config/config.h"
#include "extender/election/follower.h"
#include "extender/gang/controller.h"
#include "extender/gang/kube_api.h"
#include "extender/http/server.h"
#include "extender/metrics/metrics.h"
#include "extender/profiles/keeper.h"
#include "extender/scheduler/verbs.h"
#include "extender/shares/share_keeper.h"

namespace crossover::extender {

// An Extender is the running program: it owns all parts and connects them.
//
//   API server                 scheduler of the same pod       API server
//     | lists and watches        | filter, bind, ..               | admission reviews
//     v                          v                                v
//   Informers  --->  Controller  <--- Verbs                     Admission
//                 ClusterCache   what the cluster is now
//                 Gangs          decides which pods go where, and when
//                   |
//                   v actions
//                 KubeApi  --->  API server: reservations, Bindings, deletions, events
//
// ProfileKeeper reads the jobs of the ClusterCache and writes JobProfiles. ShareKeeper reads what their ranks
// take and writes weights on their pods. LeaseFollower tells all parts
// whether this replica leads.
class Extender {
 public:
  // Starts everything. Throws std::runtime_error if it cannot listen.
  explicit Extender(const ExtenderConfig& config);
  ~Extender();

  // Returns what it still waits for before it can work, one line each; empty: it is ready. A replica that
  // does not lead is ready, too.
  std::vector<std::string> Missing() const;

  // Prepares for the end: each answer of the webhook then ends its connection, so the API server asks
  // another replica. Thread-safe.
  void Drain();

 private:
  class EventHandler;  // passes the changes of the informers to the controller

  bool Leads() const;
  // Registers the metrics of the parts.
  void Count();
  // Returns what `look` finds in the cache, or nothing while the cluster is not known.
  template <class Look>
  auto IfKnown(Look look) -> std::optional<decltype(look(std::declval<const ClusterCache&>()))>;
  void TellOfSlowRank(const ProfileId& id, const ProfileRun& run);
  void ListenForHealth();
  void ListenForMetrics();

  const ExtenderConfig config_;
  std::atomic<Informers*> known_{nullptr};      // null until feed_ exists, and while it is destroyed
  const std::unique_ptr<LeaseFollower> lease_;  // null: always leads
  Metrics metrics_;
  KubeApi api_;
  Controller controller_;
  const std::unique_ptr<EventHandler> event_handler_;
  Informers informers_;
  Verbs verbs_;
  ProfileKeeper profiles_;
  ShareKeeper shares_;
  kube::MetricsAccess access_;
  std::unique_ptr<admission::Admission> admission_;  // null: no webhook
  // The servers come last: they use the members above.
  std::vector<std::unique_ptr<HttpServer>> servers_;
};

// Serves until a signal stops it. Returns the program's exit code: 2 if the configuration, or something
// that it names, is wrong.
int RunExtender(const std::string& config_path);

}  // namespace crossover::extender
