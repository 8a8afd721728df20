// placement_plan SEED same|mixed [COUNT [SLOTS]]
// Measures how long one decision about COUNT waiting gangs takes, on GPUs of SLOTS slots.
//
// same: all gangs have 8 GPUs, each with a profile of its own. mixed: GPU counts and profiles are as in
// Muri's trace. The cluster has GPUs for a quarter of the gangs. The output is one JSON line.
#include <chrono>
#include <cstdio>
#include <random>
#include <string>

#include "benchmarks/placement/gangs.h"

namespace crossover::benchmarks {
namespace {

// Draws a GPU count as in Muri's cluster trace, of 400 jobs. REQUIRES: `draw` is below 400.
int MixedCount(int draw) {
  const int kCounts[][2] = {{36, 1}, {51, 2}, {70, 4}, {357, 8}, {360, 16}, {400, 32}};
  for (const auto& [below, gpus] : kCounts) {
    if (draw < below) return gpus;
  }
  return 8;
}

std::vector<placement::Gang> Waiting(std::uint64_t seed, bool mixed, int count) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  std::vector<placement::Gang> waiting;
  for (int i = 0; i < count; ++i) {
    Job job;
    job.id = i;
    job.gpus = mixed ? MixedCount(below(400)) : 8;
    job.iteration_s = 0.05 + 0.0001 * below(10000);
    job.stage = {0, job.iteration_s * (0.05 + 0.0009 * below(1000)), 0.01};
    waiting.push_back(GangOf(job));
  }
  return waiting;
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: placement_plan SEED same|mixed [COUNT [SLOTS]]\n", stderr);
    return 2;
  }
  const bool mixed = std::string(argv[2]) == "mixed";
  const int count = argc > 3 ? std::stoi(argv[3]) : 1000;
  const int slots = argc > 4 ? std::stoi(argv[4]) : placement::Gpu{}.slots;
  const std::vector<placement::Gang> waiting = Waiting(std::stoull(argv[1]), mixed, count);
  const placement::State state = StateOf({.nodes = count / 4, .gpus_per_node = 8}, slots);
  const auto began = std::chrono::steady_clock::now();
  const placement::Decision decision = placement::Decide(state, waiting, 0, {});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  std::printf("{\"gangs\": %d, \"plans\": %zu, \"plan_ms\": %.3f}\n", count, decision.plans.size(),
              took.count());
  return 0;
}

}  // namespace
}  // namespace crossover::benchmarks

int main(int argc, char** argv) { return crossover::benchmarks::Main(argc, argv); }
