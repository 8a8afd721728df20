// Keeps a ClientStats behind a lock. The event bus's thread writes to it, and the threads that serve requests
// read it. The arbiter's thread never uses it, so no reader delays a turn.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/event_bus/event_bus.h"
#include "deviceplugin/stats/client_stats.h"
#include "deviceplugin/stats/event_subscription.h"

namespace crossover::deviceplugin {

// StatsStore is thread-safe.
class StatsStore : public Sink {
 public:
  static constexpr std::size_t kMostWatchers = 16;

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) override;
  void OnDropped(std::uint64_t events) override;

  // These methods call the functions of ClientStats under the lock.
  void LoadProfile(const JobProfile& profile);
  void NoteMemory(const arbiter::Member& member, std::uint64_t bytes);
  // Reads from the client's page whether allocations over its memory budget were refused. If so, the job
  // needs more, and it is not known how much more. Notes a need of 1.5 times the budget, so that a job whose
  // budget came from an earlier profile is not refused forever.
  void NoteRefusals(const arbiter::Member& member);
  void NoteUnregistered(UnregisteredProcesses unregistered);

  // These methods call the functions of ClientStats under the lock.
  std::optional<JobProfile> Profile(const JobKey& job) const;
  bool Here(const JobKey& job) const;
  std::vector<std::shared_ptr<const arbiter::Member>> Members() const;

  std::vector<RankView> Ranks() const;
  std::vector<ReductionsView> Reductions() const;
  void NotePlain(const arbiter::Member& member, base::ShrinkLevel asked, base::PlainReason reason);
  std::vector<ReductionsView> TakeReductionsOfLeft();

  // Returns the state of all GPUs. It reads the words of each client's page now. The rest may be older by one
  // round of the event bus (100 ms).
  std::vector<GpuView> Gpus() const;
  std::vector<TurnView> Turns(const std::string& uuid, turn::Time since) const;
  std::uint64_t dropped() const;  // events that never came here

  // Returns a feed of the events from now on, for one watcher. The feed gets events for as long as the caller
  // keeps it. Returns null if there are kMostWatchers already, or after EndWatches().
  std::shared_ptr<EventSubscription> Watch();
  // Ends all feeds. Later calls of Watch return null.
  void EndWatches();

 private:
  mutable std::mutex mutex_;
  ClientStats client_stats_;
  std::vector<std::weak_ptr<EventSubscription>> subscriptions_;
  std::uint64_t dropped_ = 0;
  bool ended_ = false;
};

}  // namespace crossover::deviceplugin
