// Divides a GPU among unequal jobs.
//
// A job that needs the GPU for c of each iteration and stays away for m uses u = c / (c + m) of it when
// alone. The fluid max-min share lets all jobs run at the same fraction of their own speed: theta = min(1, 1
// / sum u). Whole turns in rotation reach it if they are of similar length. A short turn behind a long one
// does not reach it. In that case the long turn is broken at its yield points. A job with iterations of L1
// runs L2 / L1 times per iteration of a job with iterations of L2, so that all are slowed down in the same
// way.
//
// All GPUs of two jobs must decide in the same way, or each job waits for its own slowest rank. Nothing here
// is therefore a sum over time: small differences between the arbiters' measurements would add up. The
// functions count whole turns within one iteration of the longer job. If the ratio is not an integer, the
// number of the iteration, which is the same on all ranks, decides between the two integers around it.
//
// The functions are pure and may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "turn/timing_model.h"

namespace crossover::turn {

// A Demand is the time that one client needs in an iteration: `busy` on its GPU and `away` from it, ns.
struct Demand {
  Time busy = kNever;
  Time away = kNever;
  bool known() const { return busy != kNever && away != kNever && busy > 0; }
  Time alone() const { return busy + away; }  // length of its iteration alone on the GPU
  double use() const { return static_cast<double>(busy) / static_cast<double>(alone()); }
  friend bool operator==(const Demand&, const Demand&) = default;
};

// Returns the fraction of its own speed, the same for all, at which each of the `count` demands can run.
// Returns 1 for no demands. REQUIRES: all demands are known.
double FairRate(const Demand* demands, std::size_t count);
// Returns whether turns of a client with demand `other` should be broken for a client with demand `brief`.
// They should if the iterations and turns of `brief` are clearly shorter, and if waiting for whole turns
// would slow it down clearly more than its share, `fair` of its own speed. Returns false for equal jobs, even
// if one GPU sees one of them come later than the other GPUs do. REQUIRES: both are known, and `fair` > 0.
bool WorthBreaking(const Demand& brief, const Demand& other, double fair);

// Returns how many turns of `brief` may break turns of `other` within iteration number `iteration` of
// `other`. The count is the turns that `brief` wants in one iteration of `other`, less the turns that it gets
// while `other` is away from the GPU (one at least). It is never below 0. Once `brief` has had this many
// turns, it waits until the turn of `other` ends. REQUIRES: both demands are known.
std::uint32_t TurnsWithin(const Demand& brief, const Demand& other, std::uint32_t iteration);

}  // namespace crossover::turn
