// Defines the ways in which jobs share a GPU, and chooses between them by their measured rates.
//
// The rate of a way is the sum over the jobs of alone / step: the work that all jobs do per time, in units of
// what one job does alone. One after the other has the rate 1.
//
// The functions are pure.
#pragma once

#include <cstdint>

namespace crossover::turn {

enum class Way : std::uint8_t { kTurns, kSideBySide, kExclusive };
constexpr const char* Name(Way way) {
  constexpr const char* kNames[] = {"by turns", "side by side", "one after the other"};
  return kNames[static_cast<int>(way)];
}

struct Rate {
  double value = 0;  // 0: unknown
  double error = 0;  // standard error of the value
};

// A Verdict is the result of a comparison. It names a way that is better by more than the noise. kEqual: the
// ways differ by less than is worth a longer comparison. kOpen: a longer comparison may tell.
enum class Verdict : std::uint8_t { kOpen, kTurns, kSideBySide, kEqual };

// Differences below this many standard errors may be noise.
inline constexpr double kSure = 2.7;

// Compares turns with side by side. Returns kOpen if a rate is unknown.
Verdict Compare(const Rate& turns, const Rate& side);

// Returns whether the ways differ by so much that another comparison would hardly tell anything else.
bool DifferClearly(const Rate& turns, const Rate& side);
// Returns whether turns give more than side by side by one standard error at least.
bool TurnsLead(const Rate& turns, const Rate& side);

// Chooses the way in which the jobs go on. `present` is the way that was chosen until now: it stays if no
// other way is better. `exclusive` tells whether one job can have the GPU for itself while the others take no
// turns. If that is impossible, Choose() takes side by side on two conditions: turns gain hardly anything
// over it, and it is no slower than one after the other. `alone_known` tells that the rates rest on measured
// times of the jobs alone; only then does Choose() take one after the other.
Way Choose(Way present, const Rate& turns, const Rate& side, bool exclusive, bool alone_known);

}  // namespace crossover::turn
