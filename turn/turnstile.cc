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

// While there is a surplus token, all clients hand over to the same successor, which can take only one of the
// tokens. The other one then lies at an open gate, and only there can the arbiter remove it. Clients that
// each hold a token and pass the tokens on in step would never leave one there. With slices the clients do
// not need this rule: a slice ends while the other client holds its token. And on all GPUs of a job a slice
// has to end with the same successor.
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
  const TimingModel& timing = policy_.timing(event.slot);
  event.whole = whole;
  event.iteration = policy_.LastIterationOf(event.slot);
  event.position = PositionOf(timing.last().rel, timing.turns());
  event.turns = timing.turns();
  return event;
}

void Turnstile::Watch(const Snapshot& seen, Time now) {
  bool somebody_waits = false;
  bool somebody_holds = false;
  const bool several = holders_.Count() > 1;
  holders_ = {};
  for (SlotIndex slot : gated_) {
    const ClientWords& words = seen.client[slot];
    const TimingModel::Change change = policy_.Watch(slot, words, now);
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
  rivals.longest = policy_.timing(holder).longest_turn();
  for (SlotIndex slot : gated_) {
    if (slot == holder) continue;
    if (seen.client[slot].waiting()) {
      rivals.wait = true;
      rivals.come_later = rivals.come_later && policy_.Before(holder, slot);
    }
    const Time other = policy_.timing(slot).longest_turn();
    if (watchdog_.turns_last() && other != kNever)
      rivals.longest = rivals.longest == kNever ? other : std::max(rivals.longest, other);
  }
  return rivals;
}

bool Turnstile::Overruns(SlotIndex holder, const Rivals& rivals, Time now) const {
  const Time held = policy_.timing(holder).held();
  return held != kNever && rivals.wait &&
         watchdog_.Over(holder, held, rivals.longest, rivals.come_later, now);
}

// Lets a suspended holder continue when another client hands it a token. That client had its slice beside the
// suspended one, or beside one that was resumed, and at the end hands over to it on all GPUs of its job. To
// replace that token here would let the client go on here alone, and both jobs would share this GPU forever.
void Turnstile::GoOnAfterSlice(const Snapshot& seen, Time now) {
  if (!slices_.on()) return;
  for (SlotIndex slot : gated_) {
    const ClientWords& words = seen.client[slot];
    if (words.holding() && words.open()) watchdog_.HandedOver(slot, words.hold, now);
  }
}

// Tells the slices which client has the turn, and whether the turn is stuck. The policy does not learn from a
// stuck turn: the watchdog's bound would grow with each of them.
void Turnstile::WatchSlice(SlotIndex holder, const Rivals& rivals, Time now) {
  if (!slices_.on()) return;
  const TimingModel& timing = policy_.timing(holder);
  const std::uint32_t iteration = policy_.IterationOf(holder);
  slices_.SeeTurn(holder, iteration);
  if (timing.held() == kNever || !rivals.wait) return;
  if (!watchdog_.Lags(holder, timing.held(), rivals.longest, now)) return;
  slices_.SeeStuck(holder, iteration);
  if (timing.turn() != kNever) policy_.Disregard(holder);
}

// Returns whether the token is parked at a client whose slice goes on. It then stays there, whichever other
// clients wait, because it stays on the other GPUs of that client's job, too.
bool Turnstile::SliceGoesOn(const Token::Place& place, const Snapshot& seen, Time now) {
  const SlotIndex slot = place.parked;
  if (slot == kNobody || !watchdog_.turns_last()) return false;
  return slices_.GoesOn(slot, seen.client[slot], arbiter_opened_.Has(slot), now);
}

// Excludes the holder from the turns. Its token counts as lost from now on: the arbiter makes a new token,
// and removes the old one when the holder gives it back.
void Turnstile::Suspend(SlotIndex holder, const Snapshot& seen, Time now) {
  // The length of a newcomer's turns is known only after its first turn. So an overrun in the first turn is
  // no offence, and the policy learns from that turn.
  const bool known = policy_.timing(holder).turn() != kNever;
  if (known) policy_.Disregard(holder);
  watchdog_.Suspend(holder, seen.client[holder].hold, known, now);
  ++stats_.opened;
  Note(Event::Kind::kOpen, holder, now);
}

void Turnstile::NoteStep(const Token::Report& report, const Snapshot& seen, Time now) {
  // A preempted client that has reached its yield point waits there without its token. That token counts as
  // preempted and not as lost.
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

Time Turnstile::NextPoll(const Token::Place& place, const Policy::Choice& choice, bool outstanding,
                         Time now) const {
  Time wait = kNever;
  if (outstanding) wait = settings_.opener_repeat;
  if (gated_.Count() > 0) {
    Time poll = settings_.poll_idle;
    if (place.holder != kNobody) {
      const Time turn = policy_.timing(place.holder).turn();
      poll = std::clamp(turn == kNever ? 0 : turn / 50, settings_.poll_held_min, settings_.poll_held_max);
      if (preempted_.Has(place.holder)) poll = settings_.poll_idle;
    }
    wait = std::min(wait, poll);
  }
  if (wait == kNever) return kNever;
  return choice.ask_again > now ? std::min(now + wait, choice.ask_again) : now + wait;
}

}  // namespace crossover::turn
