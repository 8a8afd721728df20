#include "extender/gang/owner_reading.h"

#include <algorithm>

namespace crossover::extender {

bool ReadOwnerOf(GangStore& store, const GangRecord& gang, double pause_s) {
  const OwnerRef& owner = *gang.membership.owner;
  GangStore::OwnerEntry& entry = store.owners[owner];
  if (entry.in_flight != 0) return true;
  const bool early = entry.asked_s > 0 && store.now_s < entry.asked_s + pause_s;
  if (early || store.now_s < store.quiet_until_s) return false;
  entry.in_flight = store.next++;
  entry.asked_s = store.now_s;
  store.actions.push_back({.kind = Action::Kind::kReadOwner, .id = entry.in_flight, .owner = owner});
  return true;
}

bool DoubtSize(GangStore& store, const GangRecord& gang) {
  constexpr int kMostDoublings = 5;  // ten seconds become five minutes
  if (!gang.membership.owner) return false;
  const int doublings = std::clamp(store.owners[*gang.membership.owner].in_vain - 1, 0, kMostDoublings);
  return ReadOwnerOf(store, gang, store.settings.owner_every_s * (1 << doublings));
}

bool KnowsSizeNow(GangStore& store, const GangRecord& gang, int* asked) {
  constexpr int kMostTries = 3;
  if (!gang.membership.owner) return true;
  const GangStore::OwnerEntry& entry = store.owners[*gang.membership.owner];
  if (entry.in_flight != 0 || store.now_s < store.quiet_until_s) return false;
  if (*asked >= kMostTries || (*asked > 0 && entry.error.empty())) return true;
  ReadOwnerOf(store, gang, 0);
  ++*asked;
  return false;
}

}  // namespace crossover::extender
