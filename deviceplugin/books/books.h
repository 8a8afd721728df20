// The books behind a lock: written on the recorder's thread, read by whoever serves questions. The arbiter's
// thread never comes here.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/books/feed.h"
#include "deviceplugin/books/ledger.h"
#include "deviceplugin/recorder/recorder.h"

namespace crossover::deviceplugin {

// Thread-safe.
class Books : public Sink {
 public:
  static constexpr std::size_t kMostWatchers = 16;

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) override;
  void OnDropped(std::uint64_t events) override;

  void Teach(const JobProfile& profile);
  void NoteMemory(const arbiter::Member& member, std::uint64_t bytes);
  // Whether its budget was too little, as its page says: then it needs more, nobody knows by how much. Half
  // as much again is noted, so that a job whose budget was learnt is not refused for ever.
  void NoteRefusals(const arbiter::Member& member);
  void NoteUnheard(Unheard unheard);

  // Of Ledger.
  std::optional<JobProfile> Profile(const JobKey& job) const;
  bool Here(const JobKey& job) const;
  std::vector<std::shared_ptr<const arbiter::Member>> Members() const;

  std::vector<RankView> Ranks() const;

  // As of now; what the page says of each client is read at once, the rest is up to a recorder's round old.
  std::vector<GpuView> Gpus() const;
  std::vector<TurnView> Turns(const std::string& uuid, turn::Time since) const;
  std::uint64_t dropped() const;  // events that never reached the books

  // Events from here on, for one watcher, for as long as it keeps the feed. Null when there are
  // kMostWatchers already, or after EndWatches.
  std::shared_ptr<TurnFeed> Watch();
  void EndWatches();

 private:
  mutable std::mutex mutex_;
  Ledger ledger_;
  std::vector<std::weak_ptr<TurnFeed>> feeds_;
  std::uint64_t dropped_ = 0;
  bool ended_ = false;
};

}  // namespace crossover::deviceplugin
