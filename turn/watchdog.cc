#include "turn/watchdog.h"

#include <algorithm>
#include <utility>

namespace crossover::turn {

void Watchdog::Forget(SlotIndex slot) {
  suspended_.Remove(slot);
  offenders_.Remove(slot);
  client_[slot] = {};
}

Time Watchdog::Bound(Time longest) const {
  return std::max(settings_.floor, longest == kNever ? 0 : settings_.factor * longest);
}

Time Watchdog::Ran(SlotIndex holder, Time held, Time now) const {
  const Client& client = client_[holder];
  return now - std::max(held, client.resumed_at) - (lost_ - client.lost);
}

bool Watchdog::Over(SlotIndex holder, Time held, Time longest, bool goes_first, Time now) const {
  return Ran(holder, held, now) >= Bound(longest) * (turns_last_ && goes_first ? 2 : 1);
}

bool Watchdog::Lags(SlotIndex holder, Time held, Time longest, Time now) const {
  return Ran(holder, held, now) >= Bound(longest) / 4 * 3;
}

void Watchdog::Suspend(SlotIndex holder, TurnNumber k, bool blamed, Time now) {
  Client& client = client_[holder];
  suspended_.Add(holder);
  const bool again = client.resumed && client.turn == k;
  client.turn = k;
  client.suspended = now;
  client.lost_when_suspended = lost_;
  client.resumed = again;
  if (!blamed || again) return;
  client.offended = now;
  if (++client.offences >= Allowed()) offenders_.Add(holder);
}

void Watchdog::See(SlotIndex slot, const ClientWords& words) {
  if (!words.holding() || words.hold != client_[slot].turn) suspended_.Remove(slot);
}

void Watchdog::TurnEnded(Time now) {
  if (!turns_last_) return;
  for (SlotIndex slot : suspended_) {
    if (!client_[slot].resumed) Resume(slot, now);
  }
}

void Watchdog::HandedOver(SlotIndex slot, TurnNumber k, Time now) {
  if (std::exchange(client_[slot].handed, k) != k) Resume(slot, now);
}

void Watchdog::Resume(SlotIndex slot, Time now) {
  Client& client = client_[slot];
  client.resumed = true;
  client.resumed_at = now;
  client.lost = lost_;
  suspended_.Remove(slot);
}

void Watchdog::NameStuck(Time now) {
  constexpr int kFloors = 50;
  if (turns_last_) return;
  for (SlotIndex slot : suspended_) {
    Client& client = client_[slot];
    if (now - client.suspended - (lost_ - client.lost_when_suspended) >= kFloors * settings_.floor) {
      client.offences = Allowed();
      client.offended = now;
      offenders_.Add(slot);
    }
  }
}

void Watchdog::Forgive(SlotSet present, Time now) {
  for (SlotIndex slot : present) {
    Client& client = client_[slot];
    if (client.offences == 0 || now - client.offended < settings_.forgive) continue;
    client.offences = offenders_.Has(slot) ? Allowed() - 1 : 0;
    client.offended = now;
    offenders_.Remove(slot);
  }
}

}  // namespace crossover::turn
