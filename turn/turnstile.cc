#include "turn/turnstile.h"

#include <algorithm>

namespace crossover::turn {

void Turnstile::Join(SlotIndex slot, std::uint32_t order) {
  Leave(slot);
  present_.Add(slot);
  policy_.Join(slot, order);
}

void Turnstile::Leave(SlotIndex slot) {
  present_.Remove(slot);
  gated_.Remove(slot);
  offenders_.Remove(slot);
  suspended_.Remove(slot);
  preempted_.Remove(slot);
  arbiter_opened_.Remove(slot);
  overruns_[slot] = 0;
  overran_[slot] = 0;
  resumed_at_[slot] = 0;
}

void Turnstile::SetGated(SlotIndex slot, bool gated) {
  if (gated && present_.Has(slot)) {
    gated_.Add(slot);
  } else {
    gated_.Remove(slot);
    suspended_.Remove(slot);
  }
}

void Turnstile::set_settings(const Settings& settings) {
  settings_ = settings;
  policy_.set_settings(settings.policy);
}

std::span<const Event> Turnstile::TakeEvents() {
  if (events_taken_) event_count_ = 0;
  events_taken_ = true;
  return {events_.data(), event_count_};
}

void Turnstile::Note(Event::Kind kind, SlotIndex slot, Time at, Time duration) {
  if (events_taken_) {
    events_taken_ = false;
    event_count_ = 0;
  }
  if (event_count_ < kMaxEvents) events_[event_count_++] = {kind, slot, at, duration};
}

void Turnstile::Watch(const Snapshot& seen, Time now) {
  bool somebody_waits = false;
  bool somebody_holds = false;
  for (SlotIndex slot : gated_) {
    const ClientWords& words = seen.client[slot];
    const Rhythm::Change change = policy_.Watch(slot, words, now);
    if (change.released) {
      Note(Event::Kind::kRelease, slot, now, change.turn);
      if (policy_.turns_last() && active().Has(slot)) Resume(now);
    }
    if (change.arrived) Note(Event::Kind::kArrive, slot, now);
    if (change.held) {
      Note(Event::Kind::kHold, slot, now, change.waited);
      preempted_.Remove(slot);
      ++stats_.turns;
      ++(arbiter_opened_.Has(slot) ? stats_.granted : stats_.handed_over);
      arbiter_opened_.Remove(slot);
    }
    somebody_waits |= words.waiting();
    somebody_holds |= words.holding();
  }
  policy_.Settle(active(), now);
  const bool rests = somebody_waits && !somebody_holds && !active().Has(policy_.owner());
  if (rests && rested_ && last_poll_ != kNever) stats_.rest_while_ready += now - last_poll_;
  rested_ = rests;
}

// Where turns last until a collective has ended, two GPUs may have let in the other's job each: their holders
// wait for each other's ranks. Only one of them must change over, so the one that goes first waits longer.
bool Turnstile::Overruns(SlotIndex holder, const Snapshot& seen, Time now) const {
  const Rhythm& rhythm = policy_.rhythm(holder);
  if (rhythm.held() == kNever) return false;
  const Time bound = TurnBound(settings_.watchdog, rhythm.longest_turn());
  const Time held = now - std::max(rhythm.held(), resumed_at_[holder]);
  if (held < bound) return false;
  for (SlotIndex slot : gated_) {
    if (slot == holder || !seen.client[slot].waiting()) continue;
    if (!policy_.turns_last() || policy_.Before(slot, holder) || held >= 2 * bound) return true;
  }
  return false;
}

// From now on its token counts as lost: a new one is made, and the old one swallowed when it comes back.
void Turnstile::Suspend(SlotIndex holder, const Snapshot& seen, Time now) {
  suspended_.Add(holder);
  overran_[holder] = seen.client[holder].hold;
  ++stats_.opened;
  Note(Event::Kind::kOpen, holder, now);
  // How long the turns of a newcomer are is known from the first: that one breaks no rule, and is learned.
  if (policy_.rhythm(holder).turn() == kNever) return;
  policy_.Disregard(holder);
  overran_at_[holder] = now;
  const std::uint32_t lenience = policy_.turns_last() ? 4 : 1;
  if (++overruns_[holder] >= lenience * settings_.watchdog.offences) offenders_.Add(holder);
}

// The others have had a turn beside them.
void Turnstile::Resume(Time now) {
  for (SlotIndex slot : suspended_) resumed_at_[slot] = now;
  suspended_ = SlotSet();
}

void Turnstile::Forgive(Time now) {
  for (SlotIndex slot : present_) {
    if (overruns_[slot] == 0 || now - overran_at_[slot] < settings_.watchdog.forgive) continue;
    overruns_[slot] = offenders_.Has(slot) ? settings_.watchdog.offences - 1 : 0;
    overran_at_[slot] = now;
    offenders_.Remove(slot);
  }
}

void Turnstile::NoteStep(const Token::Report& report, const Snapshot& seen, Time now) {
  // The token of a client that has come to its yield point was not lost but left there.
  bool left = false;
  for (SlotIndex slot : preempted_) {
    if (seen.client[slot].holding()) continue;
    preempted_.Remove(slot);
    left = left || seen.client[slot].yielded();
  }
  if (left && report.minted) ++stats_.preempted;
  if (report.minted && !left) {
    ++stats_.minted;
    Note(Event::Kind::kMint, report.granted, now);
  }
  if (report.swallowed) {
    ++stats_.swallowed;
    Note(Event::Kind::kSwallow, report.revoked, now);
  }
  if (report.revoked != kNobody) {
    ++stats_.revoked;
    arbiter_opened_.Remove(report.revoked);
    Note(Event::Kind::kRevoke, report.revoked, now);
  }
  if (report.granted != kNobody) {
    arbiter_opened_.Add(report.granted);
    Note(Event::Kind::kGrant, report.granted, now);
  }
}

Time Turnstile::NextPoll(const Token::Place& place, const Policy::Wish& wish, bool outstanding,
                         Time now) const {
  Time wait = kNever;
  if (outstanding) wait = settings_.opener_repeat;
  if (gated_.Count() > 0) {
    Time poll = settings_.poll_idle;
    if (place.holder != kNobody) {
      const Time turn = policy_.rhythm(place.holder).turn();
      poll = std::clamp(turn == kNever ? 0 : turn / 50, settings_.poll_held_min, settings_.poll_held_max);
      if (preempted_.Has(place.holder)) poll = settings_.poll_idle;
    }
    wait = std::min(wait, poll);
  }
  if (wait == kNever) return kNever;
  return wish.ask_again > now ? std::min(now + wait, wish.ask_again) : now + wait;
}

}  // namespace crossover::turn
