// Divides the work of a job among ranks of unequal speed, so that all of them end their parts at the same
// time.
//
// A rank that takes c for its part w has the speed s = w / c. It also waits for its turn for d, if another
// job shares its GPU. The parts w' that make c + d the same for all ranks:
//
//   T = (sum(w) + sum(s d)) / sum(s)      w' = s (T - d)
//
// A rank whose wait is longer than T gets no part; T is then below what can be reached. Pure.
#pragma once

#include <span>
#include <vector>

namespace crossover::gains {

// The least gain for which parts change, relative to the step.
inline constexpr double kWorth = 0.03;

// RankTimes are what one rank takes in an iteration, in seconds.
struct RankTimes {
  double compute_s = 0;
  double wait_s = 0;  // for its turn
};

// A Neighbour is a rank of another job on the same GPU, in seconds of its own iteration.
struct Neighbour {
  double compute_s = 0;
  double step_s = 0;  // its iteration alone
};

// Returns how long a rank waits for its turn in an iteration of `step_s` in which no other rank of its job
// keeps it waiting. `wait_s` is what it waits now, and `away_s` how long its job's communication takes.
//
// A rank with a small part waits for the others of its job, and a neighbour has its turn meanwhile. Its own
// wait for a turn is short then. With a larger part it would not be: a neighbour that takes a turn in each
// iteration is on the GPU for all of its compute, and only the communication hides some of that.
double WaitBeside(double wait_s, double away_s, double step_s, std::span<const Neighbour> neighbours);

struct Balance {
  std::vector<double> parts;  // by rank, in the unit of the parts given
  double longest_s = 0;       // of a rank now: its compute and its wait
  double together_s = 0;      // of each rank with these parts: T
};

// Returns the best parts of ranks that have the parts `parts` now. REQUIRES: as many ranks as parts, at least
// one; all parts and compute times are positive.
Balance BalanceOf(std::span<const RankTimes> ranks, std::span<const double> parts);

// Returns how much shorter a step of `step_s` becomes: its time over that with the best parts. What the step
// has beside its longest rank, such as its collectives, stays as it is. Returns 1 if `step_s` is shorter than
// the longest rank, which no step is.
double GainOf(const Balance& balance, double step_s);

}  // namespace crossover::gains
