// Makes the policies.
#pragma once

#include <cstdint>
#include <memory>

#include "benchmarks/placement/policy.h"
#include "extender/placement/settings.h"

namespace crossover::benchmarks {

// Gives each job GPUs of its own, in order of arrival, and skips jobs that do not fit. No job is stopped.
std::unique_ptr<Policy> MakeFifo(const Cluster& cluster);
// Gives each job GPUs of its own. Those with the least time left run, and others are stopped for them.
std::unique_ptr<Policy> MakeShortest(const Cluster& cluster);
// Works as MakeFifo does, but a job that finds no GPUs joins a random job of its size that runs alone.
std::unique_ptr<Policy> MakeRandom(const Cluster& cluster, double efficiency, std::uint64_t seed);
// Muri-S knows how long each job runs, Muri-L does not. Both stop and move jobs at each event, and put up
// to four together.
std::unique_ptr<Policy> MakeMuriS(const Cluster& cluster);
std::unique_ptr<Policy> MakeMuriL(const Cluster& cluster);
// Runs the engine as the product does: each GPU has `slots` slots, and no job is stopped or moved. The
// engine does not know how long a job will run, and it knows a job's profile once one like it has run.
std::unique_ptr<Policy> MakeShipped(const Cluster& cluster, const placement::Settings& settings, int slots);
// Runs the engine with Muri's powers. It gets the jobs that Muri would consider, puts up to four together,
// and takes those with the least GPU time left first. All is decided anew at each event, and each job
// starts again at each.
std::unique_ptr<Policy> MakePowers(const Cluster& cluster, double efficiency);

}  // namespace crossover::benchmarks
