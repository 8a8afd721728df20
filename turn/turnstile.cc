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
  preempted_.Remove(slot);
  arbiter_opened_.Remove(slot);
  watchdog_.Forget(slot);
  slices_.Reset();
}

void Turnstile::SetGated(SlotIndex slot, bool gated) {
  if (gated && present_.Has(slot)) {
    gated_.Add(slot);
  } else {
    if (gated_.Has(slot)) policy_.Pause(slot);
    gated_.Remove(slot);
    watchdog_.Readmit(slot);
  }
}

void Turnstile::set_settings(const Settings& settings) {
  settings_ = settings;
  policy_.set_settings(settings.policy);
  watchdog_.set_settings(settings.watchdog);
}

void Turnstile::SetTurnsLast(bool last) {
  policy_.SetTurnsLast(last);
  watchdog_.set_turns_last(last);
}

// While there is a surplus token, all clients hand over to the same successor, who can take only one. A
// surplus token is removed where it lies at an open gate. Clients that each hold a token and pass them on
// in step would never leave one there. In slices they do not: a slice ends while the other client holds its
// token, and on all GPUs of a job it has to end with the same successor.
SlotIndex Turnstile::successor(SlotIndex slot, TurnNumber k) const {
  if (surplus_ && !slices_.on()) return policy_.First(active());
  return policy_.Successor(watchdog_.turns_last() ? gated_ : active(), slot, k);
}

std::span<const Event> Turnstile::TakeEvents() {
  if (events_taken_) event_count_ = 0;
  events_taken_ = true;
  return {events_.data(), event_count_};
}

void Turnstile::Note(const Event& event) {
  if (events_taken_) {
    events_taken_ = false;
    event_count_ = 0;
  }
  if (event_count_ < kMaxEvents) events_[event_count_++] = event;
}

Event Turnstile::WithWhole(Event event, Time whole) const {
  if (watchdog_.turns_last() || whole == kNever) return event;
  const Rhythm& rhythm = policy_.rhythm(event.slot);
  event.whole = whole;
  event.iteration = policy_.LastIterationOf(event.slot);
  event.position = PositionOf(rhythm.last().rel, rhythm.turns());
  event.turns = rhythm.turns();
  return event;
}

void Turnstile::Watch(const Snapshot& seen, Time now) {
  bool somebody_waits = false;
  bool somebody_holds = false;
  const bool several = holders_.Count() > 1;
  holders_ = {};
  for (SlotIndex slot : gated_) {
    const ClientWords& words = seen.client[slot];
    const Rhythm::Change change = policy_.Watch(slot, words, now);
    if (change.released) {
      Note(WithWhole({Event::Kind::kRelease, slot, now, change.turn}, change.whole));
      if (active().Has(slot)) watchdog_.TurnEnded(now);
      if (!change.yielded) slices_.SeeEnd(slot, change.turn);
    }
    if (change.arrived) Note(WithWhole({Event::Kind::kArrive, slot, now, 0}, change.away));
    if (change.held) {
      Note(Event::Kind::kHold, slot, now, change.waited);
      watchdog_.Held(slot);
      preempted_.Remove(slot);
      ++stats_.turns;
      ++(arbiter_opened_.Has(slot) ? stats_.granted : stats_.handed_over);
      arbiter_opened_.Remove(slot);
    }
    somebody_waits |= words.waiting();
    somebody_holds |= words.holding();
    if (words.holding() && active().Has(slot)) holders_.Add(slot);
  }
  policy_.Settle(active(), now);
  surplus_ = several && holders_.Count() > 1;
  const bool rests = somebody_waits && !somebody_holds && !active().Has(policy_.owner());
  if (rests && rested_ && last_poll_ != kNever) stats_.rest_while_ready += now - last_poll_;
  rested_ = rests;
}

Turnstile::Rivals Turnstile::RivalsOf(SlotIndex holder, const Snapshot& seen) const {
  Rivals rivals;
  rivals.longest = policy_.rhythm(holder).longest_turn();
  for (SlotIndex slot : gated_) {
    if (slot == holder) continue;
    if (seen.client[slot].waiting()) {
      rivals.wait = true;
      rivals.come_later = rivals.come_later && policy_.Before(holder, slot);
    }
    const Time other = policy_.rhythm(slot).longest_turn();
    if (watchdog_.turns_last() && other != kNever)
      rivals.longest = rivals.longest == kNever ? other : std::max(rivals.longest, other);
  }
  return rivals;
}

bool Turnstile::Overruns(SlotIndex holder, const Rivals& rivals, Time now) const {
  const Time held = policy_.rhythm(holder).held();
  return held != kNever && rivals.wait &&
         watchdog_.Over(holder, held, rivals.longest, rivals.come_later, now);
}

// A client that has had its slice beside a suspended one, or beside one that was resumed, hands over to it on
// all GPUs of its job. To replace that token would let it go on here alone, and both jobs would share for
// ever.
void Turnstile::GoOnAfterSlice(const Snapshot& seen, Time now) {
  if (!slices_.on()) return;
  for (SlotIndex slot : gated_) {
    const ClientWords& words = seen.client[slot];
    if (words.holding() && words.open()) watchdog_.HandedOver(slot, words.hold, now);
  }
}

// A turn that is stuck is not learned from, or the watchdog's bound would grow with each of them.
void Turnstile::WatchSlice(SlotIndex holder, const Rivals& rivals, Time now) {
  if (!slices_.on()) return;
  const Rhythm& rhythm = policy_.rhythm(holder);
  const std::uint32_t iteration = policy_.IterationOf(holder);
  slices_.SeeTurn(holder, iteration);
  if (rhythm.held() == kNever || !rivals.wait) return;
  if (!watchdog_.Lags(holder, rhythm.held(), rivals.longest, now)) return;
  slices_.SeeStuck(holder, iteration);
  if (rhythm.turn() != kNever) policy_.Disregard(holder);
}

// Returns whether the token is parked at a client whose slice goes on. It stays there then, whichever other
// clients wait: on the other GPUs of that client's job it stays, too.
bool Turnstile::SliceGoesOn(const Token::Place& place, const Snapshot& seen, Time now) {
  const SlotIndex slot = place.parked;
  if (slot == kNobody || !watchdog_.turns_last()) return false;
  return slices_.GoesOn(slot, seen.client[slot], arbiter_opened_.Has(slot), now);
}

// The holder's token counts as lost from now on. The arbiter makes a new token and removes the old one when
// it comes back.
void Turnstile::Suspend(SlotIndex holder, const Snapshot& seen, Time now) {
  // The length of a newcomer's turns is known only after its first turn, so the first turn is no offence
  // and is learned from.
  const bool known = policy_.rhythm(holder).turn() != kNever;
  if (known) policy_.Disregard(holder);
  watchdog_.Suspend(holder, seen.client[holder].hold, known, now);
  ++stats_.opened;
  Note(Event::Kind::kOpen, holder, now);
}

void Turnstile::NoteStep(const Token::Report& report, const Snapshot& seen, Time now) {
  // A client that was preempted and has reached its yield point left its token there; the token was not
  // lost.
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
