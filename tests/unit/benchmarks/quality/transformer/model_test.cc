#include "benchmarks/quality/transformer/model.h"

#include <gtest/gtest.h>

#include <cmath>

namespace crossover::transformer {
namespace {

std::vector<Sequence> Sequences() {
  std::vector<Sequence> sequences(3);
  std::uint32_t state = 5;
  for (Sequence& sequence : sequences) {
    for (std::uint8_t& token : sequence)
      token = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 28);
  }
  return sequences;
}

// Compares the gradients with differences of the loss, for some elements of each tensor.
TEST(ModelTest, GradientsAreThoseOfDifferences) {
  std::vector<float> parameters = InitialParameters(1);
  const auto sequences = Sequences();
  std::vector<float> gradients(parameters.size(), 0);
  Loss(parameters, sequences, gradients);
  const std::vector<std::size_t> borders = Borders();
  for (std::size_t tensor = 0; tensor < kTensors; ++tensor) {
    double error = 0, all = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t at = borders[tensor] + i * 2654435761u % kSizes[tensor];
      const float before = parameters[at];
      const float step = 0.002f;
      parameters[at] = before + step;
      const double above = Loss(parameters, sequences, {});
      parameters[at] = before - step;
      const double below = Loss(parameters, sequences, {});
      parameters[at] = before;
      const double difference = (above - below) / (2 * static_cast<double>(step));
      error += std::pow(difference - static_cast<double>(gradients[at]), 2);
      all += std::pow(difference, 2);
    }
    EXPECT_LT(std::sqrt(error), 0.02 * std::sqrt(all) + 1e-5) << "tensor " << tensor;
  }
}

TEST(ModelTest, AModelThatKnowsNothingHasTheLossOfAGuess) {
  std::vector<float> zeros(Borders().back(), 0);
  EXPECT_NEAR(Loss(zeros, Sequences(), {}), std::log(static_cast<double>(kTokens)), 1e-6);
}

}  // namespace
}  // namespace crossover::transformer
