#include "turn/caps.h"

#include <algorithm>
#include <cmath>

namespace crossover::turn {
namespace {

// The target slowdown allows nine tenths of the extra time that the cap allows, because the mean swings
// around the target.
constexpr double kAim = 0.9;
// Time gained by not waiting may be lost again later, but at most this much at once, ns. A job that ran
// alone for an hour must not stand still for minutes when another one comes.
constexpr Time kMostCredit = 500'000'000;
// An iteration longer than this, not counting its wait here, is a stall of the job's own making, such as a
// checkpoint, and does not count. A shorter one counts: its excess may be the wait of another rank.
constexpr Time kStall = 4;      // in units of its iteration alone
constexpr Time kMostDebt = 16;  // in the same units

double TargetOf(double cap, double alone) { return alone * (1 + (cap - 1) * kAim); }

double Ns(Time time) { return static_cast<double>(time); }
double Target(const CappedDemand& job) { return TargetOf(job.cap, Ns(job.demand.alone())); }
double Spare(const CappedDemand& job) { return Target(job) - Ns(job.demand.alone()); }

// Returns the turns that `own` needs in an iteration of `other`, divided by the turns that it can have. It
// can have some while the other is away, at its own speed, beginning and ending in the middle of the
// other's iteration. It can have further ones in the time that the other has to spare.
double TurnsNeeded(const CappedDemand& own, const CappedDemand& other, Time hand_over) {
  const double busy = Ns(own.demand.busy);
  const double away = Ns(other.demand.away);
  const double beside = std::min((away + Ns(own.demand.away)) / Ns(own.demand.alone()), away / busy);
  const double between = Spare(other) / (busy + 2 * Ns(hand_over));
  return Target(other) / Target(own) / std::max(1e-9, beside + between);
}

}  // namespace

double PartNeeded(std::span<const CappedDemand> demands, Time hand_over) {
  double time = 0;
  double turns = 0;
  for (const CappedDemand& own : demands) {
    if (own.cap == 0) continue;
    double pieces = 1;
    for (const CappedDemand& other : demands) {
      if (&other == &own || other.cap == 0) continue;
      // The client's turn is broken if the other client's iteration leaves no room for the whole turn.
      pieces = std::max(pieces, Ns(own.demand.busy) / std::max(1.0, Spare(other) + Ns(other.demand.away)));
      turns = std::max(turns, TurnsNeeded(own, other, hand_over));
    }
    time += (Ns(own.demand.busy) + 2 * Ns(hand_over) * pieces) / Target(own);
  }
  return std::max(time, turns);
}

Time Pace::Target() const { return static_cast<Time>(TargetOf(cap_, static_cast<double>(alone_))); }

void Pace::Begin(Time now, Time alone) {
  if (began_ != kNever && alone_ != kNever && cap_ != 0) {
    const Time took = now - began_;
    if (took <= kStall * alone_ + waited_) debt_ += took - Target();
    debt_ = std::clamp(debt_, -std::max(kMostCredit, alone_), kMostDebt * alone_);
  }
  began_ = now;
  alone_ = alone;
  waited_ = 0;
  away_ = false;
}

Time Pace::Allowance() const {
  if (cap_ == 0 || alone_ == kNever || began_ == kNever) return kNever;
  return (away_ ? 2 : 1) * PerIteration() - debt_ - waited_;
}

}  // namespace crossover::turn
