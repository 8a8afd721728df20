#include "extender/gang/owner_reading.h"

#include <algorithm>

namespace crossover::extender {

bool ReadOwnerOf(Desk& desk, const GangRecord& gang, double pause_s) {
  const OwnerRef& owner = *gang.membership.owner;
  Desk::OwnerEntry& entry = desk.owners[owner];
  if (entry.in_flight != 0) return true;
  const bool early = entry.asked_s > 0 && desk.now_s < entry.asked_s + pause_s;
  if (early || desk.now_s < desk.quiet_until_s) return false;
  entry.in_flight = desk.next++;
  entry.asked_s = desk.now_s;
  desk.actions.push_back({.kind = Action::Kind::kReadOwner, .id = entry.in_flight, .owner = owner});
  return true;
}

bool DoubtSize(Desk& desk, const GangRecord& gang) {
  constexpr int kMostDoublings = 5;  // ten seconds become five minutes
  if (!gang.membership.owner) return false;
  const int doublings = std::clamp(desk.owners[*gang.membership.owner].in_vain - 1, 0, kMostDoublings);
  return ReadOwnerOf(desk, gang, desk.settings.owner_every_s * (1 << doublings));
}

bool KnowsSizeNow(Desk& desk, const GangRecord& gang, int* asked) {
  constexpr int kMostTries = 3;
  if (!gang.membership.owner) return true;
  const Desk::OwnerEntry& entry = desk.owners[*gang.membership.owner];
  if (entry.in_flight != 0 || desk.now_s < desk.quiet_until_s) return false;
  if (*asked >= kMostTries || (*asked > 0 && entry.error.empty())) return true;
  ReadOwnerOf(desk, gang, 0);
  ++*asked;
  return false;
}

}  // namespace crossover::extender
