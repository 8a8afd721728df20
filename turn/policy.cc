#include "turn/policy.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace crossover::turn {
namespace {

// The policy breaks another client's turn this long before a client of a higher priority is expected, ns.
constexpr Time kLead = 300'000;

// A client that may wait for at most this long is pressed, ns. It covers a stretch of the other client's
// turn and two hand-overs.
constexpr Time kReserve = 500'000;

// The first turns have this tie window, ns. The ranks of two jobs that ran side by side come to their first
// turns within a few milliseconds of each other.
constexpr Time kFirstTieWindow = 5'000'000;

// A turn that lasts until its collective has ended is longer than this only in an evaluation, ns.
constexpr Time kLongHold = 100'000'000;

}  // namespace

void Policy::Join(SlotIndex slot, std::uint32_t order) {
  timing_[slot] = TimingModel{};
  priority_[slot] = Priority::kNormal;
  order_[slot] = order;
  suffered_.Remove(slot);
  pressed_.Remove(slot);
  pace_[slot] = Pace();
  known_[slot] = Demand();
  iteration_offset_[slot] = 0;
  for (SlotIndex other = 0; other < kMaxSlots; ++other) within_[slot][other] = within_[other][slot] = 0;
}

TimingModel::Change Policy::Watch(SlotIndex slot, const ClientWords& words, Time now) {
  const TimingModel::Change change = timing_[slot].Watch(words, now);
  if (change.held && timing_[slot].served() == 0) began_.Add(slot);
  if (change.released) gave_back_ = change.yielded ? kNobody : slot;
  if (change.held) took_ = slot;
  if (change.released) suffered_.Remove(slot);
  if (change.held && change.waited >= settings_.longest_wait) suffered_.Add(slot);
  Keep(slot, change, now);
  return change;
}

void Policy::Keep(SlotIndex slot, const TimingModel::Change& change, Time now) {
  const TimingModel& timing = timing_[slot];
  Pace& pace = pace_[slot];
  const std::uint32_t last = timing.turns() - 1;
  if (change.released && !change.yielded && PositionOf(timing.last().rel, timing.turns()) == last) pace.End();
  const bool first = PositionOf(timing.last().next(), timing.turns()) == 0;
  if (change.arrived && first && !timing.last().yielded()) {
    const Demand demand = DemandOf(slot);
    // If turns of one position are many, each counts as an iteration of its own here.
    pace.Begin(now, demand.known() ? demand.alone() / timing.turns_of_a_position() : kNever);
  }
  if (change.held) pace.Wait(change.waited);
}

// Returns the known demand, or else what the timing tells. The known one is better: it shows what the job
// needs alone, without the effect of other jobs, above all on its gaps. But if the job's turns now have
// another length, a different job runs under the same name, and the timing counts.
Demand Policy::DemandOf(SlotIndex slot) const {
  constexpr double kSame = 1.25;
  const Demand seen = {timing_[slot].busy(), timing_[slot].away()};
  const Demand& known = known_[slot];
  if (!known.known() || !seen.known()) return known.known() ? known : seen;
  const double ratio = static_cast<double>(seen.busy) / static_cast<double>(known.busy);
  return ratio < kSame && ratio > 1 / kSame ? known : seen;
}

Time Policy::Allowance(SlotIndex slot, Time now) const {
  const Time allowance = pace_[slot].Allowance();
  if (allowance == kNever) return kNever;
  const Time arrived = timing_[slot].last().waiting() ? timing_[slot].arrived() : kNever;
  return arrived == kNever ? allowance : allowance - (now - arrived);
}

int Policy::Rank(SlotIndex slot) const {
  return static_cast<int>(priority_[slot]) + (pressed_.Has(slot) ? static_cast<int>(Priority::kHigh) + 1 : 0);
}

// A client that came back first keeps the turn next time, but only if it kept no other client waiting.
// Otherwise a hint that was right once would shut the others out forever.
void Policy::Settle(SlotSet members, Time now) {
  CountTurns();
  pressed_ = SlotSet();
  for (SlotIndex slot : members) {
    if (!turns_last_ && Allowance(slot, now) <= kReserve) pressed_.Add(slot);
  }
  const SlotIndex took = std::exchange(took_, kNobody);
  if (took == kNobody || gave_back_ == kNobody) return;
  bool own = took == gave_back_;
  for (SlotIndex slot : members) own = own && (slot == took || !timing_[slot].last().waiting());
  timing_[gave_back_].NoteNextIsOwn(own);
  gave_back_ = kNobody;
}

// Returns when `slot` will ask for its next turn, judging by its last such gap, or kNever if that is
// unknown or overdue by more than `window`.
Time Policy::Expected(SlotIndex slot, Time now, Time window) const {
  for (const Time expected : {timing_[slot].next_arrival(), timing_[slot].latest_arrival()}) {
    if (expected != kNever && expected + window >= now) return expected;
  }
  return kNever;
}

bool Policy::Before(SlotIndex a, SlotIndex b) const {
  const auto key = [this](SlotIndex slot) { return std::tuple(-Rank(slot), order_[slot], slot); };
  return key(a) < key(b);
}

SlotIndex Policy::First(SlotSet members) const {
  SlotIndex first = kNobody;
  for (SlotIndex slot : members) {
    if (first == kNobody || Before(slot, first)) first = slot;
  }
  return first;
}

Time Policy::TieWindow(SlotSet members) const {
  if (settings_.tie_window > 0) return settings_.tie_window;
  Time shortest = kNever;
  for (SlotIndex slot : members) shortest = std::min(shortest, timing_[slot].next_turn());
  return shortest == kNever ? 0 : std::min(shortest / 10, kMaxTieWindow);
}

bool Policy::Begins(SlotSet members) const {
  for (SlotIndex slot : members) {
    if (!timing_[slot].fresh()) return false;
  }
  return true;
}

Policy::Choice Policy::FirstCome(SlotSet members, Time window) const {
  Time first = kNever;
  for (SlotIndex slot : members) {
    if (timing_[slot].last().waiting()) first = std::min(first, timing_[slot].arrived());
  }
  Choice choice;
  for (SlotIndex slot : members) {
    const Time arrived = timing_[slot].arrived();
    if (!timing_[slot].last().waiting() || arrived == kNever || arrived - first > window) continue;
    if (choice.slot == kNobody || Before(slot, choice.slot)) choice.slot = slot;
  }
  return choice;
}

// Keeps the token for a client that is expected at any moment and ranks above the waiting client of
// `choice`. Otherwise returns `choice`.
Policy::Choice Policy::UnlessDue(SlotSet members, Choice choice, Time now) const {
  for (SlotIndex slot : members) {
    if (Rank(slot) <= Rank(choice.slot) || !IsDue(slot, now)) continue;
    return {.slot = slot, .ask_again = timing_[slot].next_arrival() + kLead, .holds_back = true};
  }
  return choice;
}

bool Policy::Owned(SlotSet members, Time now) const {
  constexpr Time kPatience = 20'000'000;
  if (!members.Has(owner_)) return false;
  const TimingModel& timing = timing_[owner_];
  if (timing.last().waiting() || timing.last().holding()) return true;
  const Time expected = timing.next_arrival();
  return expected != kNever && now <= expected + std::max(timing.gap(), kPatience);
}

bool Policy::Suffers(SlotIndex slot, Time now) const {
  const TimingModel& timing = timing_[slot];
  return timing.last().waiting() && timing.arrived() != kNever &&
         now - timing.arrived() >= settings_.longest_wait;
}

SlotSet Policy::Eligible(SlotSet members) const {
  int highest = 0;
  for (SlotIndex slot : members) {
    if (timing_[slot].last().waiting()) highest = std::max(highest, Rank(slot));
  }
  for (SlotIndex slot : members) {
    if (Rank(slot) < highest) members.Remove(slot);
  }
  return members;
}

double Policy::Fair(SlotSet members) const {
  if (settings_.quantum == 0) return 0;
  Demand demands[kMaxSlots];
  std::size_t count = 0;
  for (SlotIndex member : members) {
    demands[count] = DemandOf(member);
    if (!demands[count++].known()) return 0;
  }
  return FairRate(demands, count);
}

bool Policy::MayBreak(SlotIndex slot, SlotIndex holder, double fair) const {
  return fair > 0 && WorthBreaking(DemandOf(slot), DemandOf(holder), fair);
}

bool Policy::Unequal(SlotSet members) const {
  const double fair = Fair(members);
  for (SlotIndex slot : members) {
    for (SlotIndex other : members) {
      if (other != slot && MayBreak(slot, other, fair)) return true;
    }
  }
  return false;
}

std::uint32_t Policy::IterationOf(SlotIndex slot) const {
  const TimingModel& timing = timing_[slot];
  return TurnOf(timing.last().hold) / timing.turns() + iteration_offset_[slot];
}

std::uint32_t Policy::LastIterationOf(SlotIndex slot) const {
  const TimingModel& timing = timing_[slot];
  return TurnOf(timing.last().rel) / timing.turns() + iteration_offset_[slot];
}

// Counts the turns that began since the last call. Two clients may begin turns in the same collect. Their
// counters are reset after they are increased, because no client was let in within a turn that has only
// begun.
void Policy::CountTurns() {
  for (SlotIndex slot : began_) {
    for (auto& within : within_) ++within[slot];
  }
  for (SlotIndex slot : std::exchange(began_, SlotSet())) {
    std::fill(std::begin(within_[slot]), std::end(within_[slot]), 0u);
  }
}

// Returns whether the next turn of `slot` should break that of `holder`, because it is brief: the sooner a
// brief turn is done, the more of the absence after it overlaps with the other client's turn.
bool Policy::GoesBetween(SlotIndex slot, SlotIndex holder) const {
  const TimingModel& timing = timing_[slot];
  return settings_.quantum != 0 && !timing.last().yielded() && timing.NextIsBrief(timing_[holder].turn());
}

bool Policy::HasTurnsDue(SlotIndex slot, SlotIndex holder) const {
  const Demand brief = DemandOf(slot);
  const Demand other = DemandOf(holder);
  return brief.known() && other.known() &&
         within_[holder][slot] < TurnsWithin(brief, other, IterationOf(holder));
}

// Returns whether the client is expected within kLead. The lead makes the GPU free when the client comes: the
// last launches of the holder take a moment.
bool Policy::IsDue(SlotIndex slot, Time now) const {
  const Time expected = timing_[slot].next_arrival();
  return expected != kNever && now >= expected - kLead && now <= expected + kLead;
}

bool Policy::ShouldPreempt(SlotSet members, SlotIndex holder, Time now) const {
  const TimingModel& timing = timing_[holder];
  if (timing.held() == kNever || members.Has(owner_)) return false;
  const Time held = now - timing.held();
  const bool quantum_over = settings_.quantum != 0 && held >= (turns_last_ ? kLongHold : settings_.quantum);
  if (suffered_.Has(holder) && !quantum_over) return false;
  // A turn twice as long as the longest one known is something else, such as an evaluation. The other clients
  // then go first, however long it lasts.
  const bool endless =
      quantum_over && timing.longest_turn() != kNever && timing.served() + held > 2 * timing.longest_turn();
  for (SlotIndex slot : members) {
    if (slot == holder) continue;
    if (turns_last_ && !(endless && timing_[slot].last().waiting())) continue;
    if (Rank(slot) > Rank(holder) && IsDue(slot, now)) return true;
    if (!timing_[slot].last().waiting()) continue;
    if (Rank(slot) > Rank(holder) || (quantum_over && Suffers(slot, now))) return true;
    if (Rank(slot) < Rank(holder)) continue;
    if (endless || GoesBetween(slot, holder)) return true;
    if (quantum_over && HasTurnsDue(slot, holder) && MayBreak(slot, holder, Fair(members))) return true;
  }
  return false;
}

Time Policy::StretchWanted(SlotSet members, SlotIndex slot, std::uint32_t position) const {
  if (members.Has(owner_) || turns_last_) return 0;
  constexpr Time kAtEachLaunch = 300'000;
  const Time longest = timing_[slot].longest_turn();
  bool brief = false;
  Time wanted = kNever;
  for (SlotIndex other : members) {
    if (other == slot) continue;
    if (priority_[other] > priority_[slot]) return kAtEachLaunch;
    // A whole turn of `slot` would be too long for the other client's cap.
    const Time allowance = pace_[other].Allowance();
    if (allowance != kNever && (longest == kNever || allowance < longest + kReserve)) {
      wanted = std::min(wanted, std::max(pace_[other].PerIteration() / 4, kAtEachLaunch));
    }
    for (std::uint32_t turn = 0; turn < timing_[other].turns(); ++turn) {
      brief = brief || timing_[other].Brief(turn, longest);
    }
  }
  // A turn of a few kernels ends before another client's turn could begin.
  if (settings_.quantum != 0 && !timing_[slot].Brief(position, longest)) {
    // Stretches are short for a brief client: if it has several GPUs, it waits for the GPU that lets it in
    // last, and its absence begins only then.
    constexpr Time kPerVisit = 10;
    if (brief) wanted = std::min(wanted, settings_.quantum / kPerVisit);
    // Several stretches per quantum: the quantum ends between two of them.
    if (Unequal(members)) wanted = std::min(wanted, settings_.quantum / 2);
  }
  return wanted == kNever ? 0 : wanted;
}

Time Policy::NextRival(SlotSet members, SlotIndex holder, Time now) const {
  if (members.Has(owner_) || turns_last_) return kNever;
  Time next = kNever;
  for (SlotIndex slot : members) {
    if (slot == holder) continue;
    const TimingModel& timing = timing_[slot];
    const bool goes_first = Rank(slot) > Rank(holder);
    if (goes_first || GoesBetween(slot, holder)) {
      const Time arrival = timing.last().waiting() ? now : timing.next_arrival();
      if (arrival != kNever) next = std::min(next, goes_first ? arrival - kLead : arrival);
    } else if (timing.last().waiting() && HasTurnsDue(slot, holder) &&
               MayBreak(slot, holder, Fair(members))) {
      next = std::min(next, std::max(now, timing_[holder].held() + settings_.quantum));
    } else if (timing.last().waiting() && pace_[slot].cap() != 0) {
      const Time allowance = Allowance(slot, now);
      if (allowance != kNever) next = std::min(next, now + std::max<Time>(0, allowance - kReserve));
    }
  }
  return next;
}

Policy::Choice Policy::Want(SlotSet members, Time now) const {
  if (Owned(members, now)) return {.slot = owner_};
  if (!settings_.tie_rule) return FirstCome(members, 0);
  for (SlotIndex slot : members) {
    if (Suffers(slot, now)) return FirstCome(members, 0);
  }
  members = Eligible(members);
  const bool begins = Begins(members);
  const Time window = begins ? kFirstTieWindow : TieWindow(members);
  if (Unequal(members)) {
    if (const Choice choice = FirstCome(members, window); choice.slot != kNobody)
      return UnlessDue(members, choice, now);
  }
  Time first_wait = kNever;
  Time first = kNever;
  for (SlotIndex slot : members) {
    if (timing_[slot].last().waiting()) first_wait = std::min(first_wait, timing_[slot].arrived());
    first = std::min(first, Expected(slot, now, window));
  }
  const bool somebody_waits = first_wait != kNever;
  if (somebody_waits) first = first_wait;
  if (first == kNever) return {};

  const Time close = first + window;
  Choice choice;
  SlotIndex best_waiting = kNobody;
  for (SlotIndex slot : members) {
    const bool waiting = timing_[slot].last().waiting();
    const Time expected = begins ? first : Expected(slot, now, window);
    if ((waiting ? timing_[slot].arrived() : expected) > close) continue;
    if (choice.slot == kNobody || Before(slot, choice.slot)) choice.slot = slot;
    if (waiting && (best_waiting == kNobody || Before(slot, best_waiting))) best_waiting = slot;
  }
  if (!somebody_waits || choice.slot == best_waiting) return choice;
  if (now >= close) {
    choice.slot = best_waiting;
    return choice;
  }
  choice.ask_again = close;
  choice.holds_back = true;
  return choice;
}

SlotIndex Policy::Successor(SlotSet members, SlotIndex slot, TurnNumber k) const {
  if (members.Has(owner_)) return owner_;
  if (!turns_last_ && timing_[slot].KeepsAfter(k)) return slot;
  // The client is back before a stretch of another client's turn would be over.
  if (pressed_.Has(slot) && std::min(timing_[slot].gap(), DemandOf(slot).away) <= 2 * kReserve) return slot;
  SlotSet after;
  for (SlotIndex other : members) {
    if (Before(slot, other)) after.Add(other);
  }
  if (after.Count() > 0) return First(after);
  members.Add(slot);
  return First(members);
}

}  // namespace crossover::turn
