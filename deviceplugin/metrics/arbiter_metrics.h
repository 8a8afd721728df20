// Exports the arbiter's figures to Prometheus. The series of a client end when the client leaves; those of a
// GPU stay.
//
// The event bus's thread delivers events, and the server's threads scrape. One lock separates them. The
// arbiter's thread never takes it.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/arbiter.h"
#include "deviceplugin/event_bus/event_bus.h"
#include "deviceplugin/metrics/charges.h"

namespace crossover::deviceplugin {

class ArbiterMetrics : public prometheus::Collectable, public Sink {
 public:
  // The metrics server's threads call the functions that the setters below take. Each function may be empty;
  // its metrics are then left out.

  // Sets the function that returns the processor time of the arbiter's thread, in seconds.
  void set_cpu_seconds(std::function<double()> cpu_seconds);
  // Sets the function that returns how many profiles could not be written so far.
  void set_profile_failures(std::function<std::uint64_t()> failures);

  // Sets the function that returns how many events the trace lost because its file could not be written.
  void set_trace_lost(std::function<std::uint64_t()> lost);

  // Sets the function that returns how many connections and clients were refused so far.
  void set_refusals(std::function<arbiter::Arbiter::Refusals()> refusals);

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) override;
  void OnDropped(std::uint64_t events) override;

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct Client {
    explicit Client(std::shared_ptr<const arbiter::Member> who);

    std::shared_ptr<const arbiter::Member> member;
    std::uint64_t turns = 0;
    bool cap_refused = false;
    prometheus::Histogram wait;
    prometheus::Histogram hold;
  };
  struct Gpu {
    turn::Stats stats;
    std::uint64_t damages = 0;
  };
  using Families = std::vector<prometheus::MetricFamily>;

  void MakeRoom(const std::string& uuid);
  void CollectGpus(Families* families) const;
  void CollectCharges(Families* families) const;
  void CollectClients(Families* families) const;
  void CollectClaims(Families* families) const;
  void CollectStates(Families* families) const;
  void CollectDaemon(Families* families) const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Client> clients_;  // by Member::id
  std::map<std::string, Gpu> gpus_;          // by UUID
  mutable Charges charges_;                  // Collect advances it to the present
  std::uint64_t dropped_ = 0;
  std::function<double()> cpu_seconds_;
  std::function<arbiter::Arbiter::Refusals()> refusals_;
  std::function<std::uint64_t()> profile_failures_;
  std::function<std::uint64_t()> trace_lost_;
};

}  // namespace crossover::deviceplugin
