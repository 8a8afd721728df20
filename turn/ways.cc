#include "turn/ways.h"

#include <algorithm>
#include <cmath>

namespace crossover::turn {
namespace {

// A way that is better by less is not worth a change.
constexpr double kBetter = 1.0075;
// Ways that differ by less are not compared for longer.
constexpr double kAlike = 0.02;
// Ways differ clearly by this part at least, and by twice the noise.
constexpr double kClear = 0.05;
// If no job can have the GPU for itself, turns that gain less than this over side by side are not chosen.
constexpr double kWorthTurns = 1.01;

double Difference(const Rate& turns, const Rate& side) { return std::log(side.value / turns.value); }
double Noise(const Rate& turns, const Rate& side) {
  return kSure * std::hypot(turns.error / turns.value, side.error / side.value);
}

}  // namespace

Verdict Compare(const Rate& turns, const Rate& side) {
  if (turns.value <= 0 || side.value <= 0) return Verdict::kOpen;
  const double difference = Difference(turns, side);
  const double noise = Noise(turns, side);
  if (difference > std::max(noise, std::log(kBetter))) return Verdict::kSideBySide;
  if (difference < -std::max(noise, std::log(kBetter))) return Verdict::kTurns;
  return std::abs(difference) + noise < kAlike ? Verdict::kEqual : Verdict::kOpen;
}

bool DifferClearly(const Rate& turns, const Rate& side) {
  if (turns.value <= 0 || side.value <= 0) return false;
  return std::abs(Difference(turns, side)) > std::max(2 * Noise(turns, side), kClear);
}

bool TurnsLead(const Rate& turns, const Rate& side) {
  if (turns.value <= 0 || side.value <= 0) return false;
  return Difference(turns, side) < -std::max(Noise(turns, side) / kSure, std::log(kBetter));
}

Way Choose(Way present, const Rate& turns, const Rate& side, bool exclusive, bool alone_known) {
  Way shared = present;
  if (present == Way::kExclusive) shared = turns.value >= side.value ? Way::kTurns : Way::kSideBySide;
  const Verdict verdict = Compare(turns, side);
  if (verdict == Verdict::kTurns || turns.value > kBetter * side.value) shared = Way::kTurns;
  if (verdict == Verdict::kSideBySide || side.value > kBetter * turns.value) shared = Way::kSideBySide;
  if (!exclusive)
    return turns.value < kWorthTurns * side.value && side.value >= 1 ? Way::kSideBySide : shared;
  const Rate& best = shared == Way::kTurns ? turns : side;
  if (!alone_known || best.value <= 0) return shared;
  if (present == Way::kExclusive) return best.value > kBetter ? shared : Way::kExclusive;
  const bool worse_than_alone = best.value * kBetter < 1 && best.value + kSure * best.error < 1;
  return worse_than_alone ? Way::kExclusive : shared;
}

}  // namespace crossover::turn
