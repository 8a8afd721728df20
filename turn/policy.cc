#include "turn/policy.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace crossover::turn {
void Policy::Join(SlotIndex slot, std::uint32_t order) {
  rhythm_[slot] = Rhythm{};
  priority_[slot] = Priority::kNormal;
  order_[slot] = order;
  suffered_.Remove(slot);
  iteration_offset_[slot] = 0;
  for (SlotIndex other = 0; other < kMaxSlots; ++other) since_[slot][other] = since_[other][slot] = 0;
}

Rhythm::Change Policy::Watch(SlotIndex slot, const ClientWords& words, Time now) {
  const Rhythm::Change change = rhythm_[slot].Watch(words, now);
  if (change.held && rhythm_[slot].served() == 0) began_.Add(slot);
  if (change.released && !change.yielded) ended_.Add(slot);
  if (change.released) gave_back_ = change.yielded ? kNobody : slot;
  if (change.held) took_ = slot;
  if (change.released) suffered_.Remove(slot);
  if (change.held && change.waited >= settings_.longest_wait) suffered_.Add(slot);
  return change;
}

// A client that came back first keeps the turn next time, but only if it kept nobody waiting: else a hint
// that once was right would shut the others out for ever.
void Policy::Settle(SlotSet members) {
  CountTurns();
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
  const auto key = [this](SlotIndex slot) {
    return std::tuple(-static_cast<int>(priority_[slot]), order_[slot], slot);
  };
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

bool Policy::Suffers(SlotIndex slot, Time now) const {
  const Rhythm& rhythm = rhythm_[slot];
  return rhythm.last().waiting() && rhythm.arrived() != kNever &&
         now - rhythm.arrived() >= settings_.longest_wait;
}

SlotSet Policy::Eligible(SlotSet members) const {
  Priority highest = Priority::kLow;
  for (SlotIndex slot : members) {
    if (rhythm_[slot].last().waiting()) highest = std::max(highest, priority_[slot]);
  }
  for (SlotIndex slot : members) {
    if (priority_[slot] < highest) members.Remove(slot);
  }
  return members;
}

bool Policy::Unequal(SlotSet members) const {
  constexpr double kTolerated = 0.9;  // of the fair rate
  if (settings_.quantum == 0) return false;
  Demand demands[kMaxSlots];
  std::size_t count = 0;
  for (SlotIndex slot : members) {
    demands[count] = DemandOf(slot);
    if (!demands[count++].known()) return false;
  }
  return WholeTurnsRate(demands, count) < kTolerated * FairRate(demands, count);
}

std::uint32_t Policy::IterationOf(SlotIndex slot) const {
  const Rhythm& rhythm = rhythm_[slot];
  return TurnOf(rhythm.last().hold) / rhythm.turns() + iteration_offset_[slot];
}

// One collect sees both sides of a hand-over: the end comes first.
void Policy::CountTurns() {
  for (SlotIndex slot : std::exchange(ended_, SlotSet())) {
    std::fill(std::begin(since_[slot]), std::end(since_[slot]), 0u);
  }
  for (SlotIndex slot : std::exchange(began_, SlotSet())) {
    for (auto& since : since_) ++since[slot];
  }
}

bool Policy::HasTurnsDue(SlotIndex slot, SlotIndex holder) const {
  return since_[holder][slot] < TurnsDue(DemandOf(slot), DemandOf(holder), IterationOf(holder));
}

bool Policy::ShouldPreempt(SlotSet members, SlotIndex holder, Time now) const {
  const Rhythm& rhythm = rhythm_[holder];
  if (rhythm.held() == kNever) return false;
  const Time held = now - rhythm.held();
  const bool quantum_over = settings_.quantum != 0 && held >= settings_.quantum;
  if (suffered_.Has(holder) && !quantum_over) return false;
  // Twice as long as ever: an evaluation, or the like. The others go first, however long it goes on.
  const bool endless =
      quantum_over && rhythm.longest_turn() != kNever && rhythm.served() + held > 2 * rhythm.longest_turn();
  const bool unequal = quantum_over && Unequal(members);
  // Who is nearly done goes on, and nobody makes way for a turn longer than what is left of its own: two
  // turns in pieces would end at the same time, and the GPU rest while both communicate.
  const Time rest = rhythm.rest() == kNever ? kNever : rhythm.rest() - held;
  for (SlotIndex slot : members) {
    if (slot == holder || !rhythm_[slot].last().waiting()) continue;
    if (priority_[slot] > priority_[holder] || (quantum_over && Suffers(slot, now))) return true;
    if (priority_[slot] < priority_[holder]) continue;
    if (endless) return true;
    if (unequal && rhythm_[slot].rest() < rest && HasTurnsDue(slot, holder)) return true;
  }
  return false;
}

Time Policy::StretchWanted(SlotSet members, SlotIndex slot) const {
  constexpr Time kAtEachLaunch = 300'000;
  for (SlotIndex other : members) {
    if (priority_[other] > priority_[slot]) return kAtEachLaunch;
  }
  // Several to a quantum: it is over between two of them.
  return Unequal(members) ? settings_.quantum / 4 : 0;
}

Time Policy::NextRival(SlotSet members, SlotIndex holder, Time now) const {
  const bool unequal = Unequal(members);
  Time next = kNever;
  for (SlotIndex slot : members) {
    if (slot == holder) continue;
    const Rhythm& rhythm = rhythm_[slot];
    if (rhythm.last().waiting()) {
      if (unequal) next = std::min(next, std::max(now, rhythm_[holder].held() + settings_.quantum));
    } else if (priority_[slot] > priority_[holder]) {
      next = std::min(next, rhythm.next_arrival());
    }
  }
  return next;
}

Policy::Wish Policy::Want(SlotSet members, Time now) const {
  if (!settings_.tie_rule) return FirstCome(members);
  for (SlotIndex slot : members) {
    if (Suffers(slot, now)) return FirstCome(members);
  }
  members = Eligible(members);
  if (Unequal(members)) {
    if (const Wish wish = FirstCome(members); wish.slot != kNobody) return wish;
  }
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
