// Decides which waiting gangs get which GPUs, and which gangs they share them with. Says of each other gang
// why it gets none.
//
// The gangs of the highest rank are served first, as if no others waited; then the next rank, and so on. A
// gang gets all of its GPUs or none. Gangs that share a GPU share exactly the same set of GPUs. A gang
// that has GPUs is never moved, and it is made to leave only for one of higher rank (preempt.h). A decision
// lists plans in the order in which the caller must carry them out: each one assumes those before it. In the
// next State, the caller lists a gang with a reservation as one that has GPUs, and passes back what was kept.
//
// Deterministic and pure: no clock, no I/O, no threads. Two calls must not use the same objects at one
// time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extender/placement/explain.h"

namespace crossover::placement {

// A Plan gives one waiting gang its GPUs.
struct Plan {
  std::string gang;                 // its id
  std::vector<Seat> seats;          // one per pod
  std::vector<std::string> beside;  // ids of the gangs that have the same GPUs at that point
  Prediction prediction;            // for the gangs of `beside` in their order, and for this gang, last
};

// A Preemption says which gangs leave so that one of higher rank finds a place, and which place that is.
struct Preemption {
  std::string gang;                  // its id; it is refused until they have left
  std::vector<std::string> victims;  // ids, ascending; at least one
  std::vector<Seat> seats;           // one per pod
  std::vector<std::string> beside;   // ids of the gangs that stay on these GPUs
};

struct Decision {
  std::vector<Plan> plans;
  std::vector<Refusal> refusals;  // malformed gangs first, then by rank in the order of service
  std::optional<Reserved> kept;   // the caller passes it on in the next State
  // A decision has one preemption at most, and no plan uses its GPUs. The caller makes all victims leave, or
  // none, and lists the gang as one that has these GPUs from now on.
  std::optional<Preemption> preemption;
};

// Returns the plans for `waiting` on top of `state`. REQUIRES: `now_s` is on the clock of Gang::arrived_s,
// and `waiting` and `state` do not change during the call.
Decision Decide(const State& state, const std::vector<Gang>& waiting, double now_s, const Settings& settings,
                const Fitness& fitness = FitsAnywhere);

}  // namespace crossover::placement
