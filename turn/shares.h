// How unequal jobs divide a GPU among themselves.
//
// A job that needs the GPU for c of each iteration and stays away for m makes u = c / (c + m) use of it when
// alone. The fluid max-min share lets all run at the same part of their own speed: theta = min(1, 1 / sum u).
// Turns that go round whole reach it where they are of like length; a short turn behind a long one does not.
// There, a long turn is broken at its yield points, and a job with an iteration of L1 runs L2 / L1 times
// per iteration of a job with one of L2: all are slowed down alike.
//
// All GPUs of two jobs must decide alike, or each job waits for its own slowest rank. So nothing here is a
// sum over time: what one arbiter measured a little differently would add up. Whole turns are counted, within
// one iteration of the longer job, and where the ratio is no whole number its iteration number decides, which
// all ranks share.
//
// Pure. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "turn/rhythm.h"

namespace crossover::turn {

// What one client needs of its GPU in an iteration, nanoseconds.
struct Demand {
  Time busy = kNever;
  Time away = kNever;
  bool known() const { return busy != kNever && away != kNever && busy > 0; }
  Time alone() const { return busy + away; }  // its iteration with nobody beside it
  double use() const { return static_cast<double>(busy) / static_cast<double>(alone()); }
  friend bool operator==(const Demand&, const Demand&) = default;
};

// The part of its own speed at which each of `demands` can run, all alike. 1 for none.
double FairRate(const Demand* demands, std::size_t count);
// Whether turns of a client of demand `other` are to be broken for one of demand `brief`: its iterations and
// its turns are clearly shorter, and to wait for whole ones would cost it clearly more than its share, `fair`
// of its own speed. Never among equal jobs, also not where one GPU sees one of them come later than others
// do.
bool WorthBreaking(const Demand& brief, const Demand& other, double fair);

// For how many turns of a client of demand `brief` one of demand `other` is broken in its iteration number
// `iteration`. As many more run while that one is away as find room there, one at least: whoever is let in no
// more waits at its end.
std::uint32_t TurnsWithin(const Demand& brief, const Demand& other, std::uint32_t iteration);

}  // namespace crossover::turn
