#include "deviceplugin/profile_keeper.h"

namespace crossover::deviceplugin {

ProfileKeeper::ProfileKeeper(Books* books, ProfileStore* store) : books_(books), store_(store) {
  for (const JobProfile& profile : store_->All()) books_->Teach(profile);
}

void ProfileKeeper::OnEvent(const arbiter::Event& event) {
  if (event.kind != arbiter::EventKind::kLeave || event.member == nullptr) return;
  const JobKey job = JobOf(*event.member);
  if (books_->Here(job)) return;
  if (const auto profile = books_->Profile(job)) store_->Put(*profile);
}

}  // namespace crossover::deviceplugin
