// Guesses, by counting, which gangs have to leave so that enough GPUs are free for another one. Pure.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "extender/placement/joins.h"

namespace crossover::placement {

// A Candidate is a gang that may be made to leave.
struct Candidate {
  const Gang* gang = nullptr;
  double cost = 0;  // its GPUs times the seconds that it has had them
};

// Returns which candidates leave, as ascending indices, so that the free GPUs suffice for all pods of
// `gang`: the fewest, and of these the cheapest. Returns nothing where none of the candidates help.
//
// It counts how many pods each node has GPUs for. Other limits of nodes count as if the nodes were empty. So
// the answer has to be tried. It is exact where gangs on several nodes free whole pods by themselves, and
// where no sets overlap. Takes time in proportion to the gang's pods times the number of candidates.
std::optional<std::vector<std::size_t>> CheapestToFree(const Occupancy& occupancy, const Gang& gang,
                                                       std::span<const Candidate> candidates,
                                                       const Terms& terms);

}  // namespace crossover::placement
