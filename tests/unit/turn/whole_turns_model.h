// Models data-parallel jobs in time-slices, event by event. A turn lasts until its collective has ended.
//
// Each GPU has a turnstile of its own with one client of each job. An iteration is a list of segments. In
// each segment a rank takes a turn, computes, and joins a collective, which starts when the last rank has
// joined it. The turn ends with the collective. The rank asks for the next turn at once, as a stream does
// that has nothing between the two. A host runs ahead of its GPU by one iteration: it chooses the successor
// of a turn when the turn of the same segment one iteration earlier begins. Jobs that the watchdog lets in
// beside a holder share the GPU's time with it, and a collective that spins takes its share, too. GPUs
// exchange nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "turn/turnstile.h"

namespace crossover::turn::test {

// A Segment is one turn of an iteration. Times are in nanoseconds.
struct Segment {
  Time compute = 0;      // of a rank that has the GPU for itself
  Time communicate = 0;  // from the last rank's arrival on
};

struct WholeTurnsOptions {
  int gpus = 4;
  SlotIndex jobs = 2;
  std::vector<Segment> segments;  // at most kMaxTurns; the same for all jobs
  Time offset = 0;                // by which each job starts after the one before
  Time hand_over = 60'000;        // from an opened gate to the start of compute
  Time noise = 0;                 // the longest delay that is added to each stretch of compute, drawn evenly
  bool start_crossed = false;     // even GPUs let the first job in first, odd ones the second
  bool told = true;               // the turnstiles know that turns last until their collectives have ended
  // kEvenGpus stands for GPUs that differ: odd ones have no slices. kOnEvenGpusForEver does so for clients
  // whose arbiter does not find out.
  enum class Slices : std::uint8_t { kNone, kOnAllGpus, kOnEvenGpus, kOnEvenGpusForEver };
  Slices slices = Slices::kNone;
  Time switch_cost = 0;               // to a client from another one, in addition to a hand-over
  Time ask_gap = 0;                   // the longest time between a release and the next request, drawn evenly
  std::uint32_t first_iteration = 0;  // number of the jobs' first iteration
  int iterations = 90;                // of each job
  std::uint64_t seed = 1;
};

struct WholeTurnsResult {
  std::vector<std::vector<Time>> ends;  // [job]: when each iteration ended
  Stats stats;                          // summed over GPUs
  int sliced = 0;                       // GPUs that have slices at the end
};

// Runs the model until each job has completed `iterations` iterations.
WholeTurnsResult RunWholeTurns(const WholeTurnsOptions& options);

// Returns the work per time of all jobs together, over that of one job after the other, from the instant on
// at which each job has done `warm_up` iterations, until the first one has done all of its own. In slices,
// single iterations tell nothing.
double WorkOverBackToBack(const WholeTurnsOptions& options, const WholeTurnsResult& result,
                          std::size_t warm_up);

// Returns the same as the sum of the jobs' rates in the iterations behind `warm_up`.
double GainOverBackToBack(const WholeTurnsOptions& options, const WholeTurnsResult& result,
                          std::size_t warm_up);

}  // namespace crossover::turn::test
