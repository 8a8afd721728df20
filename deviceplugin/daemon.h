// Runs a node daemon: starts the arbiter, handles signals, and stops in good order.
#pragma once

#include <time.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "deviceplugin/arbiter/arbiter.h"
#include "deviceplugin/config/config.h"
#include "deviceplugin/event_bus/event_bus.h"
#include "deviceplugin/signals/desk.h"
#include "deviceplugin/switches/mode_switch.h"
#include "deviceplugin/trace/trace_writer.h"

namespace crossover::deviceplugin {

// A Daemon combines the arbiter, its thread, the event bus and the trace. Any thread may call the functions
// of ModeSwitch and TurnLimiter, alive(), refusals(), signals() and trace_lost(); the others belong to the
// main thread.
class Daemon : public ModeSwitch, public TurnLimiter {
 public:
  // Reads the configuration again. Returns nothing, with the reason in `error`, if it is not valid.
  using Reread = std::function<std::optional<Config>(std::string* error)>;

  // REQUIRES: `profiles` and `identities`, which may be null, outlive the daemon.
  explicit Daemon(Config config, const arbiter::ProfileSource* profiles = nullptr,
                  const arbiter::IdentitySource* identities = nullptr)
      : config_(std::move(config)), profiles_(profiles), identities_(identities) {}
  ~Daemon() override;  // stops the daemon

  // Opens the trace and the socket, and starts the threads. Blocks SIGTERM, SIGINT and SIGHUP from then on;
  // Run() waits for them. Returns false, with the reason in `error`, if it fails. REQUIRES: called once,
  // before any other thread is created; the sinks outlive the daemon.
  bool Start(std::vector<Sink*> sinks, std::string* error);
  // Returns the CPU clock of the arbiter's thread. REQUIRES: Start was called.
  clockid_t arbiter_clock() const { return arbiter_clock_; }
  // Returns whether the arbiter's thread answers within 2 s. Blocks until it does, or for that long. Only the
  // end of the daemon waits for it.
  bool alive();
  arbiter::Arbiter::Refusals refusals() const;
  // Returns the counts of signals by UUID of the GPU. They are empty if the configuration has no signals.
  signals::ByGpu signals() const;
  // Returns how many events the trace lost because its file could not be written. REQUIRES: Start was called.
  std::uint64_t trace_lost() const;
  // Serves until SIGTERM or SIGINT. At SIGHUP it calls `reread`, unless that is null.
  void Run(const Reread& reread);

  State mode() const override;
  std::optional<arbiter::Policy> Switch(std::optional<arbiter::Policy> policy) override;
  void Limit(TurnLimits limits) override;
  void Review() override;
  void RequestReload() override;

 private:
  void Reload(const Reread& reread);
  void Stop();
  void TellArbiter();
  arbiter::Policy InForce() const;

  Config config_;
  const arbiter::ProfileSource* profiles_;
  const arbiter::IdentitySource* identities_;
  // Guards config_.arbiter.live, switched_ and limits_.
  mutable std::mutex live_mutex_;
  // Guards the life of arbiter_, together with live_mutex_: a change of the pointer needs both, and a use of
  // it needs one. alive() holds this one alone, because it blocks.
  std::shared_mutex life_mutex_;
  std::optional<arbiter::Policy> switched_;  // in force instead of the configuration's policy
  TurnLimits limits_;
  std::unique_ptr<TraceWriter> trace_;  // null: no trace; lives as long as the daemon
  std::unique_ptr<EventBus> event_bus_;
  std::unique_ptr<signals::SignalDesk> signals_;  // null: no signals; lives as long as the daemon
  std::unique_ptr<arbiter::Arbiter> arbiter_;
  std::thread thread_;
  clockid_t arbiter_clock_{};
};

}  // namespace crossover::deviceplugin
