// A discrete-event model of data-parallel jobs that share many GPUs, driving the shipped turnstile.
//
// Each GPU has a turnstile of its own with one client of each job. A job's iteration: every rank asks for its
// turn when the job's last all-reduce ends, computes for c (times a seeded draw) with yield points between
// its kernels where the arbiter wants some, gives the turn back; the all-reduce starts when the last rank
// has, and takes m where it has the link for itself. What runs side by side on a GPU, or on a shared link,
// shares it evenly. By option a share of the rank-iterations is longer than the others (stragglers), batches
// change their length for all ranks of a job at once, collectives hold a part of each GPU, and they are
// slower while a GPU computes. Arbiters poll when the turnstile asks them to, each with a phase of its own.
// Nothing is exchanged between GPUs.
#pragma once

#include <cstdint>
#include <vector>

#include "turn/guard.h"
#include "turn/turnstile.h"

namespace crossover::turn::test {

struct JobShape {
  Time compute = 20'000'000;
  Time communicate = 12'000'000;
  Time prologue = 0;    // a turn before the first of `compute`, if any,
  Time stall = 0;       // and what follows it: a wait for input
  double jitter = 0.0;  // sigma of each rank's compute, relative; cut at three sigma
  double tail = 0.0;    // share of rank-iterations that take one to three times as long, evenly drawn
  double batch = 0.0;   // sigma of the logarithm of an iteration's compute, alike on all ranks; its mean is 1
  double width = 1;     // of a GPU, that its kernels can use
  Time kernel = 500'000;  // a yield point falls between two of them
  Time starts = 0;        // when it asks for its first turns
  Priority priority = Priority::kNormal;
  double cap = 0;         // on its slowdown; 0: none
  bool profiled = false;  // what it needs is known from elsewhere

  Demand demand() const { return {prologue + compute, stall + communicate}; }
};

// Is told what an arbiter sees at its polls. `iterations`: of the job, so far.
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
  double co_run = 1;  // while kernels of several jobs run at once on a GPU, their joint speed, times this
  bool shared_link = false;
  bool start_trapped = false;  // even GPUs begin with the first job, odd ones with the second
  PolicySettings policy;
  bool guard = false;     // chooses the way; else it is
  Way way = Way::kTurns;  // this one (not kExclusive)
  int iterations = 60;    // of each job
  std::uint64_t seed = 1;
  JobModelObserver* observer = nullptr;
};

struct JobModelResult {
  std::vector<std::vector<Time>> ends;  // [job]: when each iteration ended, its all-reduce included
  std::vector<Time> longest_wait;       // [job]: of a turn, or in the middle of one
  Guard guard;                          // of the first GPU, as it stood at the end
  Stats stats;                          // summed over GPUs
  int overlaps = 0;                     // times that two clients computed on one GPU: must be none
};

JobModelResult RunJobModel(const JobModelOptions& options);

// What the compute of a rank in an iteration of a job is multiplied by: the same in a run and in its
// reference.
double ComputeFactor(const JobShape& shape, std::uint64_t seed, int gpu, SlotIndex job,
                     std::size_t iteration);

// Mean step that `job` has with no other job beside it, in ns, over the iterations that ended between two
// instants, with the draws that they had: its slowest rank in each of them, and its all-reduce.
double MeanAloneWithin(const JobModelOptions& options, const JobModelResult& result, std::size_t job,
                       Time begin, Time end);

// Mean step of `job` between two instants in which it did some, in ns.
double MeanStepWithin(const JobModelResult& result, std::size_t job, Time begin, Time end);

}  // namespace crossover::turn::test
