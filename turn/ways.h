// The ways in which jobs share a GPU, and the choice between them by their measured rates.
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

// A way is called better where the difference is larger than its noise. kEqual: the ways differ by less than
// what is worth a longer comparison. kOpen: a longer comparison may tell.
enum class Verdict : std::uint8_t { kOpen, kTurns, kSideBySide, kEqual };

// Differences below so many standard errors may be noise.
inline constexpr double kSure = 2.7;

// Compares turns with side by side. Returns kOpen where a rate is unknown.
Verdict Compare(const Rate& turns, const Rate& side);

// Returns whether the ways differ by so much that another comparison would hardly tell anything else.
bool DifferClearly(const Rate& turns, const Rate& side);
// Returns whether turns give more than side by side by one standard error at least.
bool TurnsLead(const Rate& turns, const Rate& side);

// Chooses the way in which the jobs go on. `present` is the way that was chosen until now: it stays where no
// other way is clearly better. `exclusive` tells whether one job can have the GPU while the others take no
// turns. Where it cannot, turns give way to side by side where they hardly gain anything over it, as long as
// that is not slower than one after the other. One after the other is chosen only
// where `alone_known` tells that the rates stand on measured times of the jobs alone.
Way Choose(Way present, const Rate& turns, const Rate& side, bool exclusive, bool alone_known);

}  // namespace crossover::turn
