// Decides which waiting gangs get which GPUs, and with whom; and says of each other one why not.
//
// All or nothing per gang, on one identical set of GPUs with whoever it meets. Nothing that has GPUs is moved
// or stopped. A decision is the plans in the order in which they are to be carried out, each on top of those
// before; whoever carries them out tells the next State of reservations as of gangs that run, and what was
// kept.
//
// Deterministic and pure: no clock, no I/O, no threads; one decision at a time may run per object it is
// given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extender/placement/explain.h"

namespace crossover::placement {

struct Plan {
  std::string gang;
  std::vector<Seat> seats;          // one per pod
  std::vector<std::string> beside;  // ids of the gangs that have the same GPUs by then
  Prediction prediction;            // of `beside` in their order, and of the gang itself, last
};

struct Decision {
  std::vector<Plan> plans;
  std::vector<Refusal> refusals;  // in the order in which they were served
  std::optional<Kept> kept;       // to be told in the next State
};

// `waiting` and `state` must outlive the call. `now_s`: on the clock of Gang::arrived_s.
Decision Decide(const State& state, const std::vector<Gang>& waiting, double now_s, const Settings& settings,
                const Fitness& fitness = FitsAnywhere);

}  // namespace crossover::placement
