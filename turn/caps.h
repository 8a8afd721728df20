// Decides whether the jobs of a GPU can all keep their caps on slowdown, and tracks how close each job comes
// to breaking its cap.
//
// A job whose iteration takes L alone, with c of it on the GPU, keeps a cap of s if its iterations take at
// most s L on average. It then needs at least c / (s L) of the GPU's time. Jobs whose needs sum up to more
// than the whole cannot all keep their caps. (This is the bound of turn/fair_share.h, with rates bounded from
// below instead of made equal.) If they can, each job may be kept waiting for (s - 1) L of each iteration.
// A job that has used that up goes before all others until it may be kept waiting again.
//
// The measurements are instants that all GPUs of a job see in the same way: those at which all its ranks
// return from the same collective.
//
// Pure: the caller passes the time. Not thread-safe.
#pragma once

#include <span>

#include "turn/fair_share.h"

namespace crossover::turn {

// A CappedDemand is a job's demand and its cap.
struct CappedDemand {
  Demand demand;   // REQUIRES: known
  double cap = 0;  // step together over step alone; 0: no cap
};

// Returns the fraction of the available capacity that the jobs with a cap need to keep their caps while all
// of `demands` run. If it is above 1, they cannot all keep them. The result is the larger of two fractions.
// One is of the GPU's time: a hand-over costs `hand_over`, and a broken turn costs two. The other is of the
// turns that two jobs can have of each other: while one is away, the other does no more than it does alone. 0
// if no job has a cap.
double PartNeeded(std::span<const CappedDemand> demands, Time hand_over);
// The arbiter promises at most this fraction. The rest covers unforeseen delays.
inline constexpr double kPromised = 0.95;

// Tracks how far one client's iterations are from breaking its cap.
class Pace {
 public:
  void set_cap(double cap) { cap_ = cap; }
  double cap() const { return cap_; }

  // Notes that an iteration begins: the client asks for its first turn at `now`. The iteration takes
  // `alone` with no other job on the GPU.
  void Begin(Time now, Time alone);
  // Notes that the client was let in after it had waited for `waited`.
  void Wait(Time waited) { waited_ += waited; }
  // Notes that the client gave the last turn of its iteration back.
  void End() { away_ = true; }

  // Returns how much longer the client may be kept waiting in this iteration, or in the next one while it
  // is away. The result is negative if it has waited too long already, and kNever without a cap or before
  // anything is known.
  Time Allowance() const;
  // Returns how much waiting time each iteration adds.
  Time PerIteration() const { return cap_ == 0 || alone_ == kNever ? kNever : Target() - alone_; }

 private:
  Time Target() const;

  double cap_ = 0;
  Time began_ = kNever;
  Time alone_ = kNever;
  Time waited_ = 0;  // in this iteration
  Time debt_ = 0;    // excess of all iterations so far over their target, ns; bounded on both sides
  bool away_ = false;
};

}  // namespace crossover::turn
