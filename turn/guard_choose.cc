// Chooses for the guard: what the rates of a look or of a window tell, and what a look has cost.
#include <algorithm>
#include <cmath>
#include <utility>

#include "turn/guard.h"
#include "turn/guard_lengths.h"

namespace crossover::turn {

// Returns whether the block side by side shows at its glance that turns are the better way. All GPUs have
// their glance at the same iteration. `before` is the first job's iteration at the last call.
bool Guard::IsClearAtAGlance(std::span<const Job> jobs, std::uint32_t before) const {
  if (Reached(before, Glance()) || !Reached(iteration_, Glance())) return false;
  const Rate side = RateOf(jobs, block_);
  const Rate turns = RateOf(jobs, meter_[Index(Way::kTurns)]);
  if (slice_ > 1) return side.value > 0 && side.value < kHopeless * turns.value;
  return settled_ == Way::kTurns && Compare(turns, side) == Verdict::kTurns;
}

// Returns whether the look has not told enough. Jobs that take turns go on with them if turns lead by one
// standard error. Until the next look, after 256 iterations, they lose no more by that than a second round
// costs. (With a lead of z standard errors s, the expected loss of an iteration is s (phi(z) - z (1 -
// Phi(z))): 0.08 s at z = 1. The round has 20 iterations, and each loses z s.)
bool Guard::IsOpen(const Rate& turns, const Rate& side) const {
  return Compare(turns, side) == Verdict::kOpen && !(settled_ == Way::kTurns && TurnsLead(turns, side));
}

// Ends a round: ends the look, or begins a longer round if the look has not told enough. `clear` says that
// a glance has told enough.
void Guard::EndRound(std::span<const Job> jobs, bool clear, Time now) {
  EndBlock(jobs, Way::kSideBySide);
  const Rate turns = RateOf(jobs, meter_[Index(Way::kTurns)]);
  const Rate side = RateOf(jobs, meter_[Index(Way::kSideBySide)]);
  rate_[Index(Way::kTurns)] = turns.value;
  rate_[Index(Way::kSideBySide)] = side.value;
  if (!clear && IsOpen(turns, side) && length_ < kLastRound)
    return Enter(Step::kTurns, until_, 2 * length_, now);
  EndLook(jobs, turns, side, now);
  if (!clear || slice_ == 1) return;
  open_ = false;
  spacing_ = kMuchLater;
}

// Chooses again between the ways, by the rates measured before and what the jobs now are known to take alone.
void Guard::ChooseAgain(std::span<const Job> jobs, Time now) {
  // Until its first window has ended, the chosen way has only what the look has measured.
  if (settled_ != Way::kExclusive && RateOf(jobs, meter_[Index(settled_)]).value <= 0)
    meter_[Index(settled_)] = promised_;
  const Rate turns = RateOf(jobs, meter_[Index(Way::kTurns)]);
  const Rate side = RateOf(jobs, meter_[Index(Way::kSideBySide)]);
  if (turns.value > 0) rate_[Index(Way::kTurns)] = turns.value;
  if (side.value > 0) rate_[Index(Way::kSideBySide)] = side.value;
  const Way before = settled_;
  Decide(jobs, turns, side, now);
  if (settled_ == before) return Enter(Step::kSettled, until_, kWindow, now);
  spacing_ = kLater / 4;
  Settle(settled_, now);
}

// Chooses a way by these rates. Counts and returns what the look has cost.
Time Guard::Decide(std::span<const Job> jobs, const Rate& turns, const Rate& side, Time now) {
  rate_[Index(Way::kExclusive)] = exclusive_ ? 1 : 0;
  settled_ = Choose(settled_, turns, side, exclusive_, AloneIsKnown(jobs));
  Count(now);
  entered_ = now;
  return AddCost();
}

void Guard::EndLook(std::span<const Job> jobs, const Rate& turns, const Rate& side, Time now) {
  stood_ = 0;
  const Way before = settled_;
  open_ = IsOpen(turns, side);
  const Time cost = Decide(jobs, turns, side, now);
  other_error_ = (settled_ == Way::kTurns ? side : turns).error;
  const bool clear = settled_ != Way::kExclusive && DifferClearly(turns, side);
  Space(jobs, cost, !IsAnew() && settled_ == before, clear);
  tried_at_ = now;
  looked_until_ = until_;
  Settle(settled_, now);
}

// Counts and returns the time that the look has cost, measured against the way that it chose.
Time Guard::AddCost() {
  double cost = 0;
  for (const Way other : {Way::kTurns, Way::kSideBySide, Way::kExclusive}) {
    const double known = other == Way::kExclusive ? 1 : rate(other);
    if (other == settled_ || rate(settled_) <= 0 || known <= 0) continue;
    looked_ += spent_[Index(other)];
    cost += static_cast<double>(spent_[Index(other)]) * std::max(0.0, 1 - known / rate(settled_));
  }
  lost_ += static_cast<Time>(cost);
  return static_cast<Time>(cost);
}

void Guard::Settle(Way way, Time now) {
  settled_ = way;
  strange_ = false;
  promised_alone_ = {};
  promised_rate_ = rate(way);
  if (way != Way::kExclusive) {
    promised_ = meter_[Index(way)];
    meter_[Index(way)] = {};
  }
  Enter(Step::kSettled, until_, kWindow, now);
}

void Guard::JudgeWindow(std::span<const Job> jobs, Time now) {
  Meters& meters = meter_[Index(settled_)];
  for (const Job& job : jobs) {
    meters[job.slot].Fade(kRemembered);
    meters[job.slot].Add(block_[job.slot]);
  }
  const Rate found = RateOf(jobs, meters);
  if (found.value > 0) rate_[Index(settled_)] = found.value;
  const Way other = settled_ == Way::kTurns ? Way::kSideBySide : Way::kTurns;
  const Way agreed = exclusive_ || slice_ > 1 ? Way::kTurns : Way::kSideBySide;
  const bool disappoints =
      found.value > 0 && found.value + kSurely * std::hypot(found.error, other_error_) < rate(other);
  if (disappoints && !std::exchange(quiet_, true)) {
    spacing_ = exclusive_ && !disappointed_ ? kLater / 4 : kLater;
    disappointed_ = true;
    if (settled_ != agreed) return Settle(agreed, now);
  }
  if (!disappoints && settled_ != agreed) disappointed_ = false;
  const bool changed = InSlices() ? SlicesHaveChanged(jobs) : HasChanged(jobs);
  if (changed && std::exchange(strange_, true)) return LookAgain(jobs, now);
  strange_ = changed;
  Enter(Step::kSettled, until_, kWindow, now);
  from_ = iteration_;
  until_ = AlignUp(iteration_ + 1, kWindow);
}

}  // namespace crossover::turn
