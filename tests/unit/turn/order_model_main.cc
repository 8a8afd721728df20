// Runs the order model several times and prints one JSON line: see benchmarks/turns/order_model.py.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "tests/unit/turn/order_model.h"

namespace {

using crossover::turn::Time;
using namespace crossover::turn::test;

constexpr double kShare = 0.95;  // of the reference
constexpr int kWindow = 5;
constexpr int kSettled = 20;        // the share is measured from this iteration on
constexpr int kSettledWindow = 10;  // iterations of a window in which it is measured

int Fail(const char* program) {
  std::fprintf(stderr,
               "usage: %s GPUS(1-1024) M_OVER_C(0-10) JITTER(0-0.3) start=random|trapped tie=on|off "
               "ITERATIONS(30-1000) RUNS(1-10000)\n",
               program);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return Fail(argv[0]);
  OrderModelOptions options;
  options.gpus = std::atoi(argv[1]);
  const double ratio = std::atof(argv[2]);
  options.communicate = static_cast<Time>(ratio * static_cast<double>(options.compute));
  options.jitter = std::atof(argv[3]);
  options.start_trapped = std::strcmp(argv[4], "start=trapped") == 0;
  options.tie_rule = std::strcmp(argv[5], "tie=off") != 0;
  options.iterations = std::atoi(argv[6]);
  const int runs = std::atoi(argv[7]);
  if (options.gpus < 1 || options.gpus > 1024 || ratio < 0 || ratio > 10 || options.jitter < 0 ||
      options.jitter > 0.3 || options.iterations < 30 || options.iterations > 1000 || runs < 1 ||
      runs > 10000) {
    return Fail(argv[0]);
  }

  int worst = 0;
  int never = 0;
  int overlaps = 0;
  double least = 2;
  std::mt19937_64 random(20261121);
  const auto cycle = static_cast<std::uint64_t>(2 * options.compute);
  for (int run = 0; run < runs; ++run) {
    options.seed = static_cast<std::uint64_t>(run) + 1;
    if (!options.start_trapped) options.second_job_starts = static_cast<Time>(random() % cycle);
    const JobModelResult result = RunOrderModel(options);
    const JobModelResult reference = RunOrderModel(ReferenceOf(options));
    const int iterations = IterationsUntil(result, reference, kShare, kWindow);
    worst = std::max(worst, iterations);
    never += iterations >= options.iterations - kWindow;
    overlaps += result.overlaps;
    for (int first = kSettled; first + kSettledWindow <= options.iterations; ++first) {
      least = std::min(least,
                       MeanStep(reference, first, kSettledWindow) / MeanStep(result, first, kSettledWindow));
    }
  }
  std::printf("{\"worst\": %d, \"never\": %d, \"least\": %.5f, \"overlaps\": %d, \"runs\": %d}\n", worst,
              never, least, overlaps, runs);
  return 0;
}
