// libs: trainer_core
// Reads the plan of a pipeline, which may contain anything. What is accepted has an order for each rank, and
// an error names the file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "examples/trainer/stages.h"
#include "tests/fuzz/require.h"

namespace trainer = crossover::trainer;

namespace {

constexpr std::uint32_t kMostOperations = 100'000;  // of a plan whose orders are made

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (std::uint32_t ranks = 1; ranks <= 4; ++ranks) {
    const auto read = trainer::ReadPlan(text, "file", ranks);
    if (const auto* error = std::get_if<trainer::UsageError>(&read)) {
      crossover::fuzz::Require(error->text.starts_with("file"));
      continue;
    }
    const auto& stages = std::get<trainer::Stages>(read);
    crossover::fuzz::Require(stages.ranks() == ranks);
    crossover::fuzz::Require(stages.forward_ms.size() == stages.blocks());
    if (stages.microbatches * ranks > kMostOperations) continue;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto order = trainer::OrderOf(stages, rank);
      crossover::fuzz::Require(order.size() >= 2 * std::size_t{stages.microbatches});
      crossover::fuzz::Require(trainer::SlotsOf(order) <= stages.microbatches);
    }
  }
  return 0;
}
