#include "turn/policy.h"

#include <algorithm>
#include <utility>

namespace crossover::turn {
void Policy::Join(SlotIndex slot, std::uint32_t order) {
  rhythm_[slot] = Rhythm{};
  order_[slot] = order;
}

Rhythm::Change Policy::Watch(SlotIndex slot, const ClientWords& words, Time now) {
  const Rhythm::Change change = rhythm_[slot].Watch(words, now);
  if (change.released) gave_back_ = slot;
  if (change.held) took_ = slot;
  return change;
}

// A client that came back first keeps the turn next time, but only if it kept nobody waiting: else a hint
// that once was right would shut the others out for ever.
void Policy::Settle(SlotSet members) {
  const SlotIndex took = std::exchange(took_, kNobody);
  if (took == kNobody || gave_back_ == kNobody) return;
  bool own = took == gave_back_;
  for (SlotIndex slot : members) own = own && (slot == took || !rhythm_[slot].last().waiting());
  rhythm_[gave_back_].NoteNextIsOwn(own);
  gave_back_ = kNobody;
}

// When `slot` will ask for its next turn, as far as its last such gap tells; kNever when it is unknown or
// overdue by more than `window`.
Time Policy::Expected(SlotIndex slot, Time now, Time window) const {
  const Time expected = rhythm_[slot].next_arrival();
  return expected == kNever || expected + window < now ? kNever : expected;
}

bool Policy::Before(SlotIndex a, SlotIndex b) const {
  const auto key = [this](SlotIndex slot) { return std::pair(order_[slot], slot); };
  return key(a) < key(b);
}

Time Policy::TieWindow(SlotSet members) const {
  if (settings_.tie_window > 0) return settings_.tie_window;
  Time shortest = kNever;
  for (SlotIndex slot : members) shortest = std::min(shortest, rhythm_[slot].next_turn());
  return shortest == kNever ? 0 : std::min(shortest / 10, kMaxTieWindow);
}

Policy::Wish Policy::FirstCome(SlotSet members) const {
  Wish wish;
  Time first = kNever;
  for (SlotIndex slot : members) {
    if (!rhythm_[slot].last().waiting() || rhythm_[slot].arrived() >= first) continue;
    first = rhythm_[slot].arrived();
    wish.slot = slot;
  }
  return wish;
}

Policy::Wish Policy::Want(SlotSet members, Time now) const {
  if (!settings_.tie_rule) return FirstCome(members);
  const Time window = TieWindow(members);
  Time first_wait = kNever;
  Time first = kNever;
  for (SlotIndex slot : members) {
    if (rhythm_[slot].last().waiting()) first_wait = std::min(first_wait, rhythm_[slot].arrived());
    first = std::min(first, Expected(slot, now, window));
  }
  const bool somebody_waits = first_wait != kNever;
  if (somebody_waits) first = first_wait;
  if (first == kNever) return {};

  const Time close = first + window;
  Wish wish;
  SlotIndex best_waiting = kNobody;
  for (SlotIndex slot : members) {
    const bool waiting = rhythm_[slot].last().waiting();
    const Time arrival = waiting ? rhythm_[slot].arrived() : Expected(slot, now, window);
    if (arrival > close) continue;
    if (wish.slot == kNobody || Before(slot, wish.slot)) wish.slot = slot;
    if (waiting && (best_waiting == kNobody || Before(slot, best_waiting))) best_waiting = slot;
  }
  if (!somebody_waits || wish.slot == best_waiting) return wish;
  if (now >= close) {
    wish.slot = best_waiting;
    return wish;
  }
  wish.ask_again = close;
  wish.holds_back = true;
  return wish;
}

SlotIndex Policy::Successor(SlotSet members, SlotIndex slot, TurnNumber k) const {
  if (rhythm_[slot].KeepsAfter(k)) return slot;
  SlotIndex next = kNobody;
  SlotIndex first = slot;
  for (SlotIndex other : members) {
    if (Before(other, first)) first = other;
    if (Before(slot, other) && (next == kNobody || Before(other, next))) next = other;
  }
  return next == kNobody ? first : next;
}

}  // namespace crossover::turn
