// Prints what a training of a small transformer comes to with a reduction, as a line of JSON:
//
//   reduced_transformer REDUCTION FAULT SEED ITERATIONS LEARNING_RATE
#include <cstdio>
#include <cstdlib>
#include <string>

#include "benchmarks/quality/transformer/training.h"

int main(int argc, char** argv) {
  using namespace crossover;
  using reductions::Fault;
  const auto refuse = [](const char* key, const char* expected, const std::string& got) {
    std::fprintf(stderr, "reduced_transformer: %s: expected %s, got %s\n", key, expected, got.c_str());
    return 2;
  };
  if (argc != 6)
    return refuse("arguments", "REDUCTION FAULT SEED ITERATIONS LEARNING_RATE", std::to_string(argc - 1));
  transformer::Setting setting;
  const std::string reduction = argv[1], fault = argv[2];
  bool known = false;
  for (int i = 0; i <= static_cast<int>(reductions::Reduction::kAdasum); ++i) {
    const auto each = static_cast<reductions::Reduction>(i);
    if (reductions::Name(each) != reduction) continue;
    setting.reduction = each;
    known = true;
  }
  if (!known) return refuse("REDUCTION", "sum, bf16, q8, adaptive, topk or adasum", reduction);
  if (fault == "two-bits") {
    setting.fault = Fault::kTwoBits;
  } else if (fault == "no-residual") {
    setting.fault = Fault::kNoResidual;
  } else if (fault != "none") {
    return refuse("FAULT", "none, two-bits or no-residual", fault);
  }
  setting.seed = std::strtoull(argv[3], nullptr, 10);
  setting.iterations = std::strtoull(argv[4], nullptr, 10);
  setting.learning_rate = std::strtod(argv[5], nullptr);
  const transformer::Outcome outcome = transformer::Train(setting);
  std::printf("{\"first_loss\": %.6f, \"loss\": %.6f, \"equal\": %s}\n", outcome.first_loss, outcome.loss,
              outcome.equal ? "true" : "false");
  return 0;
}
