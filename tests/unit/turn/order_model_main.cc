// The figure order_model: one JSON line per case on standard output.
// order_model [STARTS]: random starts per case, 100 unless said.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/unit/turn/order_model.h"

namespace {

using crossover::turn::Time;
using namespace crossover::turn::test;

constexpr int kGoal = 10;

struct Outcome {
  int worst = 0;
  int lasting = 0;  // runs in which the reference was never reached
};

Outcome Measure(OrderModelOptions options, int runs) {
  Outcome outcome;
  std::mt19937_64 random(20261121);
  const Time cycle = 2 * options.compute;
  for (int run = 0; run < runs; ++run) {
    options.seed = static_cast<std::uint64_t>(run) + 1;
    if (!options.start_trapped) {
      options.second_job_starts = static_cast<Time>(random() % static_cast<std::uint64_t>(cycle));
    }
    const OrderModelResult result = RunOrderModel(options);
    const OrderModelResult reference = RunOrderModel(ReferenceOf(options));
    const int iterations = IterationsUntil(result, reference, 0.95, 5);
    if (iterations > outcome.worst) outcome.worst = iterations;
    if (iterations >= options.iterations - 10) ++outcome.lasting;
  }
  return outcome;
}

void Print(const char* name, const OrderModelOptions& options, const char* start, int runs) {
  const Outcome outcome = Measure(options, runs);
  // The control: the tie rule off, trapped, no jitter; the share of runs that stay trapped.
  OrderModelOptions bad = options;
  bad.tie_rule = false;
  bad.start_trapped = true;
  bad.jitter = 0;
  bad.iterations = 110;
  const Outcome control = Measure(bad, 10);
  std::printf(
      "{\"figure\": \"order_model\", \"case\": \"%s %d GPUs, m/c %.1f, jitter %.0f%%, %s\", \"value\": %d, "
      "\"unit\": \"iterations\", \"goal\": \"<= %d\", \"ok\": %s, \"control\": %d, \"scope\": \"component\", "
      "\"where\": \"discrete-event model of the shipped core\", \"samples\": %d, \"command\": \"make bench "
      "ONLY=order_model\"}\n",
      name, options.gpus, static_cast<double>(options.communicate) / static_cast<double>(options.compute),
      options.jitter * 100, start, outcome.worst, kGoal,
      outcome.worst <= kGoal && control.lasting >= 9 ? "true" : "false", control.worst, runs);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int starts = argc > 1 ? std::atoi(argv[1]) : 100;
  if (starts < 1) {
    std::fprintf(stderr, "order_model: STARTS is %s, allowed is a whole number from 1\n", argv[1]);
    return 2;
  }
  for (int gpus : {4, 8, 32, 128}) {
    for (double ratio : {0.6, 1.0}) {
      for (double jitter : {0.0, 0.05}) {
        OrderModelOptions options{.gpus = gpus, .jitter = jitter, .iterations = 30};
        options.communicate = static_cast<Time>(ratio * static_cast<double>(options.compute));
        Print("order", options, "random starts", starts);
        options.start_trapped = true;
        Print("order", options, "trapped start", 10);
      }
    }
  }
  return 0;
}
