// Chooses which gangs of lower rank leave, so that a gang finds a place that it would not find else.
//
// Whole gangs leave, or none. There are two kinds of places. Either all gangs on some GPUs leave and the
// newcomer has these for itself, or some gangs of a group leave and it joins those that stay. In both cases
// the place is found with the functions that place all other gangs (allocator.h), on a copy of the occupancy
// that is without those that leave. So no gang leaves without need, and neighbours that may stay do.
//
//   GPUs     0    1    2    3
//   gangs    AB   AB   C    D     A gang of two GPUs takes the place of A beside B if it may share with B.
//                                 If not, it takes the places of C and D, or those of A and B.
//
// The best choice has the fewest gangs. Of these it is the cheapest; of these, the first by the ids of its
// gangs. For small clusters every combination is tried. For others the choice is found by counting
// (freeing.h), and each of its gangs is needed: if any one of them stays there is no place. Pure.
#pragma once

#include <optional>

#include "extender/placement/allocator.h"
#include "extender/placement/freeing.h"

namespace crossover::placement {

struct Choice {
  std::vector<const Gang*> victims;  // by ascending id
  Step place;                        // what the newcomer gets once they have left
};

// An Effort bounds the search: every combination is tried if there are at most this many candidates, and the
// product of combinations and GPUs of the cluster is at most `work`.
struct Effort {
  std::size_t candidates = 12;
  std::size_t work = std::size_t{1} << 21;
};

// Returns the gangs with GPUs that `gang` may make leave, by ascending id: those of lower rank that may leave
// (Placed::leave), with all GPUs that they have. Returns none if `gang` preempts none. `now_s` is on the
// clock of Placed::started_s.
std::vector<Candidate> CandidatesFor(const State& state, const Gang& gang, double now_s);

// Returns which of `candidates` leave for `gang`, or nothing if it finds no place even so. REQUIRES: the
// candidates are gangs of the State of `occupancy`, by ascending id; `gang` is well formed and finds no place
// while all of them stay.
std::optional<Choice> ChooseVictims(const Occupancy& occupancy, const Gang& gang,
                                    std::span<const Candidate> candidates, const Context& context,
                                    const Effort& effort = {});

}  // namespace crossover::placement
