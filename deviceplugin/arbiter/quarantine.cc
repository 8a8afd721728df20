#include "deviceplugin/arbiter/quarantine.h"

#include <algorithm>

namespace crossover::arbiter {

void Quarantine::Block(const std::string& gpu, const std::string& gang, unsigned uid, turn::Time now) {
  until_[gpu] = now;
  const auto same = [&](const Blocked& c) { return c.until <= now || (c.gang == gang && c.uid == uid); };
  blocked_.erase(std::remove_if(blocked_.begin(), blocked_.end(), same), blocked_.end());
  if (blocked_.size() == kMostBlocked) blocked_.erase(blocked_.begin());
  blocked_.push_back({gang, uid, now + kTurnedAway});
}

turn::Time Quarantine::TurnedAwayFor(const std::string& gang, unsigned uid, turn::Time now) const {
  for (const Blocked& blocked : blocked_) {
    if (blocked.gang == gang && blocked.uid == uid && blocked.until > now) return blocked.until - now;
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
