#include "deviceplugin/daemon.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "common/logging/log.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

sigset_t HeededSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

signals::Use UseIn(const TurnLimits& limits) {
  if (!limits.maintenance) return signals::Use::kNotKnown;
  return *limits.maintenance ? signals::Use::kEnded : signals::Use::kAllowed;
}

}  // namespace

Daemon::~Daemon() { Stop(); }

bool Daemon::Start(std::vector<Sink*> sinks, std::string* error) {
  const sigset_t set = HeededSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // the daemon goes on if no process reads its log any more
  logging::SetLevel(config_.log_level);
  logging::SetFormat(config_.log_format);
  if (!config_.trace_file.empty()) {
    trace_ = TraceWriter::Open(config_.trace_file, error);
    if (trace_ == nullptr) {
      *error = "trace_file: " + *error;
      return false;
    }
    sinks.push_back(trace_.get());
  }
  event_bus_ = std::make_unique<EventBus>(std::move(sinks));
  {
    const std::lock_guard life(life_mutex_);
    const std::lock_guard live(live_mutex_);
    if (signals::OffersSignals(config_.transport))
      signals_ = std::make_unique<signals::SignalDesk>(identities_);
    arbiter_ = std::make_unique<arbiter::Arbiter>(config_.arbiter, event_bus_.get(), profiles_, identities_,
                                                  signals_.get());
  }
  if (!arbiter_->Start(error)) return false;
  thread_ = std::thread([this] { arbiter_->Run(); });
  pthread_getcpuclockid(thread_.native_handle(), &arbiter_clock_);
  logging::Info("listening on " + config_.arbiter.socket.path);
  return true;
}

void Daemon::Run(const Reread& reread) {
  const sigset_t set = HeededSignals();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (signal != SIGHUP) break;
    if (reread) Reload(reread);
  }
  Stop();
}

bool Daemon::alive() {
  constexpr std::chrono::milliseconds kPatience{2000};
  const std::shared_lock lock(life_mutex_);
  return arbiter_ != nullptr && arbiter_->Answers(kPatience);
}

arbiter::Arbiter::Refusals Daemon::refusals() const {
  const std::lock_guard lock(live_mutex_);
  return arbiter_ != nullptr ? arbiter_->refusals() : arbiter::Arbiter::Refusals();
}

// Holds no lock while it asks the desk, because the desk reads files of /proc. The desk lives as long as the
// daemon.
signals::ByGpu Daemon::signals() const {
  signals::SignalDesk* desk = nullptr;
  {
    const std::lock_guard lock(live_mutex_);
    desk = signals_.get();
  }
  return desk != nullptr ? desk->figures() : signals::ByGpu();
}

std::uint64_t Daemon::trace_lost() const { return trace_ != nullptr ? trace_->lost() : 0; }

void Daemon::Reload(const Reread& reread) {
  std::string error;
  std::optional<Config> wanted = reread(&error);
  if (!wanted) {
    logging::Error("the configuration cannot be reloaded, so the old one stays in force: " + error);
    return;
  }
  const std::string later = NeedRestart(config_, *wanted);
  if (!later.empty())
    logging::Warn("these changed keys take effect only at the next start of this daemon: " + later);
  logging::SetLevel(wanted->log_level);
  logging::SetFormat(wanted->log_format);
  config_.log_level = wanted->log_level;
  const std::lock_guard lock(live_mutex_);
  config_.arbiter.live = std::move(wanted->arbiter.live);
  TellArbiter();
  logging::Info("configuration reloaded" +
                (switched_ ? ", the mode stays switched to " + std::string(PolicyName(*switched_)) : ""));
}

void Daemon::TellArbiter() {
  arbiter::LiveSettings live = config_.arbiter.live;
  live.policy = InForce();
  live.held = limits_.held;
  arbiter_->Reload(std::move(live));
}

arbiter::Policy Daemon::InForce() const {
  return arbiter::Stricter(switched_.value_or(config_.arbiter.live.policy), limits_.policy);
}

void Daemon::Limit(TurnLimits limits) {
  const std::lock_guard lock(live_mutex_);
  if (arbiter_ == nullptr || limits == limits_) return;
  const arbiter::Policy before = InForce();
  limits_ = std::move(limits);
  if (signals_ != nullptr) signals_->Set(UseIn(limits_));
  TellArbiter();  // which wakes its thread
  if (before == InForce()) return;
  logging::Info("mode changed from " + std::string(PolicyName(before)) + " to " +
                std::string(PolicyName(InForce())) + (limits_.by.empty() ? "" : ": " + limits_.by));
}

void Daemon::Review() {
  const std::lock_guard lock(live_mutex_);
  if (arbiter_ != nullptr) arbiter_->Review();
}

void Daemon::RequestReload() { kill(getpid(), SIGHUP); }

ModeSwitch::State Daemon::mode() const {
  const std::lock_guard lock(live_mutex_);
  return {.in_force = InForce(), .configured = config_.arbiter.live.policy, .limits = limits_};
}

std::optional<arbiter::Policy> Daemon::Switch(std::optional<arbiter::Policy> policy) {
  const std::lock_guard lock(live_mutex_);
  if (arbiter_ == nullptr) return std::nullopt;
  const arbiter::Policy before = InForce();
  switched_ = policy;
  TellArbiter();
  const bool limited = InForce() != policy.value_or(config_.arbiter.live.policy);
  logging::Info("mode switched from " + std::string(PolicyName(before)) + " to " +
                std::string(PolicyName(InForce())) + (policy ? "" : ", as the configuration says") +
                (limited ? ", limited by: " + limits_.by : ""));
  return before;
}

void Daemon::Stop() {
  if (!thread_.joinable()) return;
  arbiter_->Stop();
  thread_.join();
  {
    const std::lock_guard life(life_mutex_);  // may wait for alive(), and other calls do not wait with it
    const std::lock_guard live(live_mutex_);
    arbiter_.reset();
  }
  event_bus_.reset();
  logging::Info("stopped");
}

}  // namespace crossover::deviceplugin
