// The policies that there are.
#pragma once

#include <cstdint>
#include <memory>

#include "benchmarks/placement/policy.h"
#include "extender/placement/settings.h"

namespace crossover::benchmarks {

// GPUs of their own, in order of arrival, past those that do not fit; nobody is stopped.
std::unique_ptr<Policy> MakeFifo(const Cluster& cluster);
// GPUs of their own; those with the least time left run, and others are stopped for them.
std::unique_ptr<Policy> MakeShortest(const Cluster& cluster);
// As MakeFifo, and who finds no GPUs joins one job of its size that runs, any.
std::unique_ptr<Policy> MakeRandom(const Cluster& cluster, double efficiency, std::uint64_t seed);
// Muri-S knows how long each job runs, Muri-L does not; both stop and move jobs at each event, and put up to
// four together.
std::unique_ptr<Policy> MakeMuriS(const Cluster& cluster);
std::unique_ptr<Policy> MakeMuriL(const Cluster& cluster);
// The engine, with what the product does: each GPU has so many slots, no job is stopped or moved, the engine
// does not know how long a job will run, and it knows a job's profile once one like it has run.
std::unique_ptr<Policy> MakeShipped(const Cluster& cluster, const placement::Settings& settings, int slots);
// The engine with Muri's powers: the jobs that Muri would consider, up to four together, those with the least
// GPU time left first, all decided anew at each event, each job starting again at each.
std::unique_ptr<Policy> MakePowers(const Cluster& cluster, double efficiency);

}  // namespace crossover::benchmarks
