// A node daemon's life: starts the arbiter, heeds signals, stops in good order.
#pragma once

#include <time.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/arbiter.h"
#include "deviceplugin/config/config.h"
#include "deviceplugin/mode_switch.h"
#include "deviceplugin/recorder/recorder.h"
#include "deviceplugin/trace/trace_writer.h"

namespace crossover::deviceplugin {

class Daemon : public ModeSwitch, public Limited {
 public:
  // Reads the configuration again; nothing (after saying why in `error`) when it is not valid.
  using Reread = std::function<std::optional<Config>(std::string* error)>;

  // `profiles` and `identities`, which may be null, outlive it.
  explicit Daemon(Config config, const arbiter::ProfileSource* profiles = nullptr,
                  const arbiter::IdentitySource* identities = nullptr)
      : config_(std::move(config)), profiles_(profiles), identities_(identities) {}
  ~Daemon() override;  // stops it

  // Opens the trace and the socket. To be called once, before any other thread is made: SIGTERM, SIGINT and
  // SIGHUP are blocked from here on, for Run to take.
  bool Start(std::vector<Sink*> sinks, std::string* error);
  // CPU clock of the arbiter's thread, once started.
  clockid_t arbiter_clock() const { return arbiter_clock_; }
  // Whether turns are being kept: the arbiter's thread answers within a moment.
  bool alive();
  arbiter::Arbiter::Refusals refusals() const;
  // Serves until SIGTERM or SIGINT. SIGHUP asks `reread`, if there is one.
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
  // Over config_.arbiter.live, switched_, limits_, and arbiter_'s coming and going.
  mutable std::mutex live_mutex_;
  std::optional<arbiter::Policy> switched_;  // in force instead of the configuration's
  TurnLimits limits_;
  std::unique_ptr<TraceWriter> trace_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<arbiter::Arbiter> arbiter_;
  std::thread thread_;
  clockid_t arbiter_clock_{};
};

}  // namespace crossover::deviceplugin
