#include "extender/extender.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "common/base/timespec.h"
#include "common/logging/log.h"
#include "common/metrics/build_info.h"
#include "common/text/number.h"
#include "extender/cluster/fit.h"
#include "extender/gang/node_places.h"
#include "extender/gang/pod_order.h"
#include "extender/metrics/gang_families.h"

namespace crossover::extender {
namespace {

// Returns Unix seconds that never go back: the system clock, read once, advanced by the steady clock.
double NowS() {
  using std::chrono::duration;
  static const double start = duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() -
                              duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return start + duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns a name for this process that no process before it had.
std::string InstanceOf(const ExtenderConfig& config) {
  return config.host + "." + std::to_string(getpid()) + "." +
         std::to_string(static_cast<std::int64_t>(NowS()));
}

std::unique_ptr<LeaseFollower> Follow(const ExtenderConfig& config) {
  if (config.lease.empty()) return nullptr;
  return std::make_unique<LeaseFollower>(config.api_server, config.name_space, config.lease, config.host);
}

admission::Admission::Settings AdmissionOf(const ExtenderConfig& config) {
  const WebhookConfig& webhook = config.webhook;
  const std::string name = webhook.service + "." + config.name_space + ".svc";
  admission::Admission::Settings settings;
  settings.access = config.api_server;
  settings.webhook.rewrite.runtime_class = webhook.runtime_class;
  settings.webhook.rewrite.node_shm = webhook.node_shm;
  settings.webhook.rewrite.protect_from_autoscalers = webhook.protect_from_autoscalers;
  settings.webhook.rewrite.topology = config.gangs.domains;
  settings.webhook.rewrite.shrink = webhook.shrink;
  for (const char* account : {"crossover-extender", "crossover-deviceplugin"})
    settings.webhook.writers.insert("system:serviceaccount:" + config.name_space + ":" + account);
  settings.listen.address = webhook.listen.address;
  settings.listen.port = webhook.listen.port;
  settings.listen.certificate_file = webhook.certificate_file;
  settings.listen.key_file = webhook.key_file;
  settings.names = {
      .name_space = config.name_space, .secret = webhook.secret, .configuration = webhook.configuration};
  settings.cert_rotator.file = webhook.file;
  settings.cert_rotator.secret = config.name_space + "/" + webhook.secret;
  settings.cert_rotator.configuration = webhook.configuration;
  settings.cert_rotator.rotation.names = {name, name + ".cluster.local"};
  return settings;
}

HttpServer::Settings At(const Endpoint& endpoint) {
  return {.address = endpoint.address, .port = endpoint.port};
}

std::vector<GpuNode::Job> JobsOfAllNodes(const ClusterCache& cache) {
  std::vector<GpuNode::Job> jobs;
  for (const auto& [name, node] : cache.gpu_nodes())
    jobs.insert(jobs.end(), node.jobs.begin(), node.jobs.end());
  return jobs;
}

}  // namespace

class Extender::EventHandler : public Listener {
 public:
  explicit EventHandler(Controller* controller) : controller_(controller) {}

  void OnPod(Pod pod) override {
    const std::string uid = pod.uid;
    controller_->ChangePod(uid, [&pod](ClusterCache& cache) { cache.Put(std::move(pod)); });
  }
  void OnPodGone(const std::string& uid) override {
    controller_->ChangePod(uid, [&uid](ClusterCache& cache) { cache.RemovePod(uid); });
  }
  void OnNode(Node node) override { Put(std::move(node)); }
  void OnNodeGone(const std::string& name) override {
    controller_->ChangeCluster([&name](ClusterCache& cache) { return cache.RemoveNode(name); });
  }
  void OnGpuNode(GpuNode node) override {
    NoteMps(node.name, node.sharing == "mps");
    Put(std::move(node));
  }
  void OnGpuNodeGone(const std::string& name) override {
    NoteMps(name, false);
    controller_->ChangeCluster([&name](ClusterCache& cache) { return cache.RemoveGpuNode(name); });
  }
  void OnProfile(JobProfile profile) override { Put(std::move(profile)); }
  void OnProfileGone(const std::string& name_space, const std::string& name) override {
    controller_->ChangeCluster([&](ClusterCache& cache) { return cache.RemoveProfile(name_space, name); });
  }
  // A budget says whether gangs may leave for one that waits.
  void OnBudget(Budget budget) override { Put(std::move(budget)); }
  void OnBudgetGone(const std::string& name_space, const std::string& name) override {
    controller_->ChangeCluster([&](ClusterCache& cache) { return cache.RemoveBudget(name_space, name); });
  }

  // Returns whether jobs share through MPS on some node.
  bool AnyMps() const {
    const std::scoped_lock lock(mutex_);
    return !with_mps_.empty();
  }

 private:
  void NoteMps(const std::string& node, bool mps) {
    const std::scoped_lock lock(mutex_);
    if (mps) with_mps_.insert(node);
    if (!mps) with_mps_.erase(node);
  }
  template <class Object>
  void Put(Object object) {
    controller_->ChangeCluster([&object](ClusterCache& cache) { return cache.Put(std::move(object)); });
  }

  Controller* const controller_;
  mutable std::mutex mutex_;
  std::set<std::string> with_mps_;  // nodes
};

Extender::Extender(const ExtenderConfig& config)
    : config_(config),
      lease_(Follow(config)),
      api_(config.api_server, config.host, [this] { return Leads(); }),
      controller_({.settings = config.gangs,
                   .fits = FitOn,
                   .leads = [this] { return Leads(); },
                   .synced =
                       [this] {
                         const Informers* informers = known_;
                         return informers != nullptr && informers->synced();
                       },
                   .now_s = NowS,
                   .instance = InstanceOf(config)},
                  api_),
      event_handler_(std::make_unique<EventHandler>(&controller_)),
      informers_(config.api_server, event_handler_.get()),
      verbs_(
          &controller_, [this] { return Leads(); }, &metrics_),
      profiles_(config.api_server, {.gpu_speeds = config.gangs.gpu_speeds},
                {.leads = [this] { return Leads(); },
                 .jobs = [this] { return IfKnown(JobsOfAllNodes); },
                 .order =
                     [this](std::span<const GpuNode::Job> jobs) {
                       PodOrder order;
                       controller_.Look([&](const ClusterCache& cache) { order = OrderOf(cache, jobs); });
                       return order;
                     },
                 .places =
                     [this, levels = config.gangs.domains] {
                       NodePlaces places;
                       controller_.Look([&](const ClusterCache& cache) { places = PlacesOf(cache, levels); });
                       return places;
                     },
                 .is_there =
                     [this](const ProfileId& id) {
                       bool there = false;
                       controller_.Look([&](const ClusterCache& cache) {
                         there = cache.FindProfile(id.first, id.second) != nullptr;
                       });
                       return there;
                     },
                 .tell_slow = [this](const ProfileId& id, const ProfileRun& run) { TellOfSlowRank(id, run); },
                 .now_s = NowS}),
      shares_(api_, config.shares,
              {.leads = [this] { return Leads(); },
               .jobs = [this] { return IfKnown(JobsWithShares); },
               .now_s = NowS}),
      access_(config.api_server) {
  known_ = &informers_;
  Count();
  if (config.webhook.listen.port != 0) {
    admission::Admission::Settings settings = AdmissionOf(config);
    settings.webhook.rewrite.mps_somewhere = [this] { return event_handler_->AnyMps(); };
    settings.webhook.rewrite.about_gang = AboutGangOf;
    admission_ = std::make_unique<admission::Admission>(
        std::move(settings), [this] { return Leads(); }, &metrics_);
  }
  servers_.push_back(std::make_unique<HttpServer>(At(config.scheduler), verbs_.Handlers()));
  if (config.health.port != 0) ListenForHealth();
  if (config.metrics.port != 0) ListenForMetrics();
}

Extender::~Extender() {
  known_ = nullptr;
  api_.Stop();
  access_.Stop();
}

template <class Look>
auto Extender::IfKnown(Look look) -> std::optional<decltype(look(std::declval<const ClusterCache&>()))> {
  const Informers* informers = known_;
  if (informers == nullptr || !informers->synced()) return std::nullopt;
  std::optional<decltype(look(std::declval<const ClusterCache&>()))> found;
  controller_.Look([&](const ClusterCache& cache) { found = look(cache); });
  return found;
}

void Extender::TellOfSlowRank(const ProfileId& id, const ProfileRun& run) {
  std::string uid;
  controller_.Look([&](const ClusterCache& cache) {
    for (const auto& [each, pod] : cache.pods()) {
      if (pod.name_space == id.first && pod.name == run.slowest.pod) uid = each;
    }
  });
  if (uid.empty()) return;  // the pod is gone
  const auto ms = [](double seconds) { return text::Decimal(1e3 * seconds) + " ms"; };
  api_.Tell({.kind = Action::Kind::kTell,
             .pod = {.uid = uid, .name_space = id.first, .name = run.slowest.pod},
             .text = "On node " + run.slowest.node + " this pod computes for " + ms(run.slowest.compute_s) +
                     " in an iteration, and half of the ranks of its job for " + ms(run.median_s) +
                     " at most. All ranks wait for it. `kubectl crossover advise` says what it costs.",
             .reason = "SlowRank",
             .warning = true,
             .doing = "Measure"});
}

bool Extender::Leads() const { return lease_ == nullptr || lease_->Leads(); }

std::vector<std::string> Extender::Missing() const {
  std::vector<std::string> missing;
  if (!informers_.synced())
    missing.emplace_back(
        "not all objects of the cluster are known yet: look at the log for lines with \"listing \"");
  if (lease_ != nullptr && !lease_->synced())
    missing.emplace_back(
        "the Lease of the scheduler is not known yet: look at the log for lines with \"listing \"");
  if (admission_ != nullptr && !admission_->ready())
    missing.emplace_back(
        "the webhook does not listen, has no certificate, or does not know the quotas and limit ranges of "
        "namespaces: look at the log for lines with \"webhook: \", \"certificate: \" or \"listing \"");
  return missing;
}

void Extender::Drain() {
  if (admission_ != nullptr) admission_->Drain();
}

void Extender::Count() {
  metrics_.Gauge("crossover_extender_leading",
                 "Whether this replica leads, so that it decides where pods go once it knows the cluster",
                 [this] { return Leads() ? 1.0 : 0.0; });
  metrics_.Gauge("crossover_extender_synced", "Whether the cluster's objects are all known",
                 [this] { return informers_.synced() ? 1.0 : 0.0; });
  metrics_.Counter("crossover_extender_share_changes_total",
                   "Times that the batch of a job was divided anew, by the compute times of its ranks",
                   [this] { return static_cast<double>(shares_.changes()); });
  metrics_.Counter(
      "crossover_extender_share_withdrawals_total",
      "Times that a job's weights were made equal again: the times of its ranks did not follow them",
      [this] { return static_cast<double>(shares_.withdrawals()); });
  metrics_.Counter(
      "crossover_extender_share_failures_total",
      "Writes of the weights of pods that failed: the API server refused them, or did not answer",
      [this] { return static_cast<double>(shares_.failures()); });
  metrics_.Gauge("crossover_extender_held_binds",
                 "Bind calls of schedulers that are held until all pods of the gang can be bound",
                 [this] { return static_cast<double>(controller_.held()); });
  metrics_.Counter(
      "crossover_extender_nomination_failures_total",
      "Failed writes and removals of the nominated node of a pod, but for those that the API server "
      "put off (status 429) and those of a pod that had changed or was gone",
      [this] { return static_cast<double>(api_.nomination_failures()); });
  metrics_.Counter("crossover_extender_events_lost_total",
                   "Events of the extender that were lost: not taken by the API server, or too many at once",
                   [this] { return static_cast<double>(api_.lost_events()); });
  metrics_.Counter("crossover_extender_profiles_written_total",
                   "Writes of JobProfiles that the API server accepted",
                   [this] { return static_cast<double>(profiles_.written()); });
  metrics_.Counter("crossover_extender_profile_failures_total",
                   "Times that JobProfiles could not be read, written or removed",
                   [this] { return static_cast<double>(profiles_.failures()); });
  metrics_.Families([this] { return GangFamilies(controller_.Count(), NowS()); });
  metrics_.Families([] { return metrics::BuildInfo(CROSSOVER_VERSION).Collect(); });
  if (config_.webhook.listen.port != 0)
    metrics_.Gauge(
        "crossover_extender_certificate_expiry_timestamp_seconds",
        "When the certificate that the webhook serves expires, in seconds since 1970; 0 while it serves none",
        [this] {
          return static_cast<double>(admission_ == nullptr ? 0 : admission_->certificate_until_s());
        });
}

void Extender::ListenForHealth() {
  const auto alive = [](const HttpRequest&, const HttpServer::Reply& reply) {
    reply({.body = "ok\n", .content_type = "text/plain; charset=utf-8"});
  };
  const auto ready = [this](const HttpRequest&, const HttpServer::Reply& reply) {
    HttpAnswer answer{.content_type = "text/plain; charset=utf-8"};
    for (const std::string& line : Missing()) answer.body += line + "\n";
    if (answer.body.empty()) {
      answer.body = "ok\n";
    } else {
      answer.status = 503;
    }
    reply(std::move(answer));
  };
  servers_.push_back(std::make_unique<HttpServer>(
      At(config_.health),
      std::map<std::string, HttpServer::Handler>{{"/healthz", alive}, {"/readyz", ready}}));
}

// Serves the metrics on a listener of their own. Its handler waits for the API server, which says whether the
// client may read them. Requests to the other listeners do not wait behind it.
void Extender::ListenForMetrics() {
  const auto metrics = [this](const HttpRequest& request, const HttpServer::Reply& reply) {
    const int status = access_.StatusFor(request.authorization);
    if (status != 200)
      return reply({.status = status,
                    .body = std::string(kube::MetricsAccess::WhyNot(status)) + "\n",
                    .content_type = "text/plain"});
    reply({.body = metrics_.Text(), .content_type = "text/plain; version=0.0.4; charset=utf-8"});
  };
  servers_.push_back(std::make_unique<HttpServer>(
      At(config_.metrics), std::map<std::string, HttpServer::Handler>{{"/metrics", metrics}}));
}

int RunExtender(const std::string& config_path) {
  std::string error;
  const auto fail = [&error] {
    std::fprintf(stderr, "crossover-extender: %s\n", error.c_str());
    return 2;
  };
  const auto config = ReadConfig(config_path, &error);
  if (!config) return fail();
  logging::SetLevel(config->log_level);
  logging::SetFormat(config->log_format);
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    Extender extender(*config);
    logging::Info("serving the scheduler on port " + std::to_string(config->scheduler.port));
    int ended = 0;
    sigwait(&ends, &ended);
    logging::Info("told to stop");
    extender.Drain();
    const timespec drain =
        base::TimespecOf(static_cast<std::int64_t>(config->webhook.drain_s * base::kNsPerSecond));
    if (config->webhook.listen.port != 0)
      sigtimedwait(&ends, nullptr, &drain);  // a second signal ends the wait
  } catch (const std::exception& failure) {
    error = failure.what();
    return fail();
  }
  return 0;
}

}  // namespace crossover::extender
