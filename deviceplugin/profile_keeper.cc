#include "deviceplugin/profile_keeper.h"

namespace crossover::deviceplugin {

ProfileKeeper::ProfileKeeper(StatsStore* stats_store, ProfileStore* store)
    : stats_store_(stats_store), store_(store) {
  for (const JobProfile& profile : store_->All()) stats_store_->LoadProfile(profile);
}

void ProfileKeeper::OnEvent(const arbiter::Event& event) {
  if (event.kind != arbiter::EventKind::kLeave || event.member == nullptr) return;
  const JobKey job = JobOf(*event.member);
  if (stats_store_->Here(job)) return;
  if (const auto profile = stats_store_->Profile(job)) store_->Put(*profile);
}

}  // namespace crossover::deviceplugin
