#include "turn/policy.h"

#include <algorithm>

namespace crossover::turn {
namespace {

// Smooths turn lengths: quick to learn, and one odd turn moves it by a quarter.
Time Smooth(Time old, Time sample) { return old == kNever ? sample : old + (sample - old) / 4; }

}  // namespace

void Policy::Join(SlotIndex slot, std::uint32_t order) {
  rhythm_[slot] = Rhythm{};
  rhythm_[slot].order = order;
}

Policy::Change Policy::Watch(SlotIndex slot, const ClientWords& words, Time now) {
  Rhythm& rhythm = rhythm_[slot];
  const ClientWords before = rhythm.last;
  rhythm.last = words;
  Change change;

  if (words.rel != before.rel && rhythm.held != kNever) {
    change.released = true;
    change.turn = now - rhythm.held;
    if (!rhythm.odd) rhythm.turn = Smooth(rhythm.turn, change.turn);
    rhythm.odd = false;
    rhythm.held = kNever;
    rhythm.released = now;
  }
  const bool asked = words.ready != before.ready && words.ready != words.rel;
  if (asked && rhythm.arrived == kNever) {
    change.arrived = true;
    rhythm.arrived = now;
    if (rhythm.released != kNever) rhythm.gap = now - rhythm.released;
  }
  if (words.holding() && words.hold != before.hold) {
    change.held = true;
    change.waited = rhythm.arrived == kNever ? 0 : now - rhythm.arrived;
    rhythm.held = now;
    rhythm.arrived = kNever;
  }
  if (!words.holding() && !words.waiting()) rhythm.arrived = kNever;
  return change;
}

// When `slot` will ask for its next turn, as far as its last gap tells; kNever when it is unknown or overdue
// by more than `window`.
Time Policy::Expected(SlotIndex slot, Time now, Time window) const {
  const Rhythm& rhythm = rhythm_[slot];
  if (rhythm.released == kNever || rhythm.gap == kNever || rhythm.last.holding()) return kNever;
  const Time expected = rhythm.released + rhythm.gap;
  return expected + window < now ? kNever : expected;
}

bool Policy::Before(SlotIndex a, SlotIndex b) const {
  const auto key = [this](SlotIndex slot) { return std::pair(rhythm_[slot].order, slot); };
  return key(a) < key(b);
}

Time Policy::TieWindow(SlotSet members) const {
  if (settings_.tie_window > 0) return settings_.tie_window;
  Time shortest = kNever;
  for (SlotIndex slot : members) shortest = std::min(shortest, rhythm_[slot].turn);
  return shortest == kNever ? 0 : std::min(shortest / 10, kMaxTieWindow);
}

Policy::Wish Policy::FirstCome(SlotSet members) const {
  Wish wish;
  Time first = kNever;
  for (SlotIndex slot : members) {
    if (!rhythm_[slot].last.waiting() || rhythm_[slot].arrived >= first) continue;
    first = rhythm_[slot].arrived;
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
    if (rhythm_[slot].last.waiting()) first_wait = std::min(first_wait, rhythm_[slot].arrived);
    first = std::min(first, Expected(slot, now, window));
  }
  const bool somebody_waits = first_wait != kNever;
  if (somebody_waits) first = first_wait;
  if (first == kNever) return {};

  const Time close = first + window;
  Wish wish;
  SlotIndex best_waiting = kNobody;
  for (SlotIndex slot : members) {
    const bool waiting = rhythm_[slot].last.waiting();
    const Time arrival = waiting ? rhythm_[slot].arrived : Expected(slot, now, window);
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

SlotIndex Policy::Successor(SlotSet members, SlotIndex slot) const {
  SlotIndex next = kNobody;
  SlotIndex first = slot;
  for (SlotIndex other : members) {
    if (Before(other, first)) first = other;
    if (Before(slot, other) && (next == kNobody || Before(other, next))) next = other;
  }
  return next == kNobody ? first : next;
}

}  // namespace crossover::turn
