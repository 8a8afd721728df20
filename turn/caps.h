// Caps on slowdown: whether the jobs of a GPU can keep them together, and how close each is to breaking its
// own.
//
// A job whose iteration takes L alone, with c of it on the GPU, keeps a cap of s as long as its iterations
// take s L or less on average. It then needs at least c / (s L) of the GPU's time; jobs whose needs sum up to
// more than there is cannot all keep their caps (the bound of turn/shares.h, with rates bounded from below
// instead of made equal). Where they can, each may be kept waiting for (s - 1) L of each iteration; whoever
// has used that up goes before all others until it has some again.
//
// Nothing is counted that the GPUs of a job could not see alike: instants at which all its ranks come back
// from the same collective.
//
// Pure: time comes in. Not thread-safe.
#pragma once

#include <span>

#include "turn/shares.h"

namespace crossover::turn {

struct CappedDemand {
  Demand demand;   // known
  double cap = 0;  // step together over step alone; 0: none
};

// How much of what there is those with a cap need to keep it, all of `demands` being there: of the GPU's
// time, where a hand-over costs `hand_over` and a turn that is broken costs two; and of the turns that two
// jobs can have of each other, because while the one is away the other does no more than it does alone.
double PartNeeded(std::span<const CappedDemand> demands, Time hand_over);
// How much may be promised: what is left covers what no one foresees.
inline constexpr double kPromised = 0.95;

// How far one client's iterations are from breaking its cap.
class Pace {
 public:
  void set_cap(double cap) { cap_ = cap; }
  double cap() const { return cap_; }

  // Its iteration begins: it asks for its first turn at `now`, and takes `alone` with nobody beside it.
  void Begin(Time now, Time alone);
  // It was let in after waiting for so long.
  void Wait(Time waited) { waited_ += waited; }
  // It gave the last turn of its iteration back.
  void End() { away_ = true; }

  // For how long it may be kept waiting yet, in this iteration, or, while it is away, in the next: negative
  // where too long already. kNever without a cap, or before anything is known.
  Time Allowance() const;
  // How much of that each iteration brings.
  Time PerIteration() const { return cap_ == 0 || alone_ == kNever ? kNever : Target() - alone_; }

 private:
  Time Target() const;

  double cap_ = 0;
  Time began_ = kNever;
  Time alone_ = kNever;
  Time waited_ = 0;  // in this iteration
  Time debt_ = 0;    // by how much all iterations so far took longer than they may; bounded both ways
  bool away_ = false;
};

}  // namespace crossover::turn
