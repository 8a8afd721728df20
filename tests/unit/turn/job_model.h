// Models data-parallel jobs that share many GPUs, event by event, with the turnstile that ships.
//
// Each GPU has a turnstile of its own with one client of each job. In an iteration, every rank asks for its
// turn when the job's last all-reduce ends. It computes for c, times a seeded draw, with yield points between
// its kernels if the arbiter wants some, and gives the turn back. The all-reduce starts when the last rank
// has given its turn back, and takes m if it has the link for itself. Work that runs side by side on a GPU,
// or on a shared link, shares it evenly.
//
// There are options for disturbances. A share of the rank-iterations is longer than the others
// (stragglers). Batches change the length of an iteration for all ranks of a job at once. Collectives hold
// a part of each GPU, and they are slower while a GPU computes. Arbiters poll when the turnstile asks them
// to, each with a phase of its own. GPUs exchange nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "turn/guard.h"
#include "turn/turnstile.h"

namespace crossover::turn::test {

struct JobShape {
  Time compute = 20'000'000;
  Time communicate = 12'000'000;
  Time prologue = 0;    // compute of a short turn before the main one; 0: there is none
  Time stall = 0;       // the wait for input behind that turn
  double jitter = 0.0;  // sigma of each rank's compute, relative; cut at three sigma
  double tail = 0.0;    // share of rank-iterations that take one to three times as long, evenly drawn
  double batch = 0.0;   // sigma of the logarithm of an iteration's compute, alike on all ranks; its mean is 1
  double width = 1;     // share of a GPU that its kernels can use
  Time kernel = 500'000;  // a yield point falls between two of them
  Time starts = 0;        // when it asks for its first turns
  Priority priority = Priority::kNormal;
  double cap = 0;         // cap on its slowdown; 0: none
  bool profiled = false;  // what it needs is known from elsewhere

  Demand demand() const { return {prologue + compute, stall + communicate}; }
};

// A JobModelObserver is told what an arbiter sees at its polls. `iterations` counts those that the job has
// completed so far.
class JobModelObserver {
 public:
  virtual ~JobModelObserver() = default;
  virtual void OnTurn(int gpu, const Event& event) = 0;
  virtual void OnPoll(int gpu, SlotIndex job, std::uint32_t iterations, const Policy& policy, Time now) = 0;
  virtual void OnMeasure(int gpu, SlotIndex job, Time alone, std::uint32_t over, Time now) = 0;
};

struct JobModelOptions {
  int gpus = 8;
  std::vector<JobShape> jobs;
  Time hand_over = 100'000;  // from an opened gate, or from arrival at an open one, to the start of compute
  double spinning = 0;       // of each GPU, held by each collective that runs
  double slow_comm = 0;      // a collective takes 1 + this times as long while any GPU computes
  double co_run = 1;         // factor on the joint speed of several jobs' kernels that run at once on a GPU
  bool shared_link = false;
  bool start_trapped = false;  // even GPUs begin with the first job, odd ones with the second
  PolicySettings policy;
  bool guard = false;     // the guard chooses the way
  Way way = Way::kTurns;  // the way if `guard` is false; not kExclusive
  int iterations = 60;    // of each job
  std::uint64_t seed = 1;
  JobModelObserver* observer = nullptr;
};

struct JobModelResult {
  std::vector<std::vector<Time>> ends;  // [job]: when each iteration ended, its all-reduce included
  std::vector<Time> longest_wait;       // [job]: for a turn, or at a yield point
  Guard guard;                          // of the first GPU, as it stood at the end
  Stats stats;                          // summed over GPUs
  int overlaps = 0;                     // times that two clients computed on one GPU: must be none
};

// Runs the model until each job has completed `iterations` iterations.
JobModelResult RunJobModel(const JobModelOptions& options);

// Returns the factor on the compute of a rank in one iteration of a job. It depends on the arguments alone,
// so that a run and its reference have the same draws.
double ComputeFactor(const JobShape& shape, std::uint64_t seed, int gpu, SlotIndex job,
                     std::size_t iteration);

// Returns the mean step that `job` has with no other job beside it, in ns, over the iterations that ended
// between two instants. Each such iteration counts with its own draws: its slowest rank, and the all-reduce.
// Returns 0 if fewer than two iterations ended.
double MeanAloneWithin(const JobModelOptions& options, const JobModelResult& result, std::size_t job,
                       Time begin, Time end);

// Returns the mean step of `job` between two instants, in ns, or 0 if fewer than two iterations ended.
double MeanStepWithin(const JobModelResult& result, std::size_t job, Time begin, Time end);

}  // namespace crossover::turn::test
