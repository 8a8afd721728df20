#include "deviceplugin/arbiter/quarantine.h"

#include <algorithm>

namespace crossover::arbiter {

void Quarantine::Convict(const std::string& gpu, const std::string& gang, unsigned uid, turn::Time now) {
  until_[gpu] = now;
  const auto same = [&](const Convicted& c) { return c.until <= now || (c.gang == gang && c.uid == uid); };
  convicts_.erase(std::remove_if(convicts_.begin(), convicts_.end(), same), convicts_.end());
  if (convicts_.size() == kMostConvicts) convicts_.erase(convicts_.begin());
  convicts_.push_back({gang, uid, now + kTurnedAway});
}

turn::Time Quarantine::TurnedAwayFor(const std::string& gang, unsigned uid, turn::Time now) const {
  for (const Convicted& convict : convicts_) {
    if (convict.gang == gang && convict.uid == uid && convict.until > now) return convict.until - now;
  }
  return 0;
}

std::vector<std::string> Quarantine::TakeReleased(turn::Time now) {
  std::vector<std::string> released;
  for (auto it = until_.begin(); it != until_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    released.push_back(it->first);
    it = until_.erase(it);
  }
  return released;
}

turn::Time Quarantine::next_release() const {
  turn::Time next = turn::kNever;
  for (const auto& [gpu, until] : until_) next = std::min(next, until);
  return next;
}

}  // namespace crossover::arbiter
