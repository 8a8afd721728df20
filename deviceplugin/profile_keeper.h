// Puts the profile of a job into the store when the job's last client on this machine leaves. When the
// daemon stops, all of its clients leave.
#pragma once

#include <cstdint>

#include "deviceplugin/profiles/store.h"
#include "deviceplugin/stats/stats_store.h"

namespace crossover::deviceplugin {

class ProfileKeeper : public Sink {
 public:
  // Loads the profiles of `store` into `stats_store`. REQUIRES: both outlive the keeper, and `stats_store`
  // gets each event before the keeper does.
  ProfileKeeper(StatsStore* stats_store, ProfileStore* store);

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo&, const turn::Stats&) override {}
  void OnDropped(std::uint64_t) override {}

 private:
  StatsStore* stats_store_;
  ProfileStore* store_;
};

}  // namespace crossover::deviceplugin
