// Decides what each rank of a pipeline does: its blocks, their times, and the order of its operations. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "examples/trainer/options.h"
#include "examples/trainer/stage_model.h"
#include "pipeline/schedule.h"

namespace crossover::trainer {

inline constexpr std::uint32_t kMostMicrobatches = 1024;

// Stages say how a model is divided over ranks, and how long its blocks take on the ranks that have them.
struct Stages {
  pipeline::Kind kind = pipeline::Kind::kOneForwardOneBackward;
  std::uint32_t microbatches = 1;
  std::uint32_t sliced = 0;            // micro-batches, from the first, whose forward passes are halved
  double slice_cost = 0;               // two halves take so much longer than the whole, as a part of it
  std::vector<std::uint32_t> borders;  // rank r has the blocks from borders[r] to borders[r + 1]
  std::vector<double> forward_ms;      // of each block, for one micro-batch
  std::vector<double> backward_ms;

  std::uint32_t blocks() const { return borders.back(); }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(borders.size() - 1); }

  friend bool operator==(const Stages&, const Stages&) = default;
};

// Returns stages with as many blocks on each rank, as far as that is possible. The options say the rest.
std::variant<Stages, UsageError> EvenStages(const Options& options, std::uint32_t ranks);

// Returns the stages that stand in `text`, which `crossover plan pipeline -o json` has printed and the file
// `name` holds. Blocks of a stage take equal parts of its time. Refuses a plan that is not for so many ranks.
std::variant<Stages, UsageError> ReadPlan(const std::string& text, const std::string& name,
                                          std::uint32_t ranks);

// Returns the stages of a run: those of its plan, or even ones.
std::variant<Stages, UsageError> StagesOf(const Options& options, std::uint32_t ranks);

// Returns a digest of all that ranks must agree on.
std::uint64_t StagesDigest(const Stages& stages);

// Returns the operations of a rank in their order.
std::vector<pipeline::Operation> OrderOf(const Stages& stages, std::uint32_t rank);

// Returns of how many micro-batches a rank keeps something at once.
std::uint32_t SlotsOf(const std::vector<pipeline::Operation>& order);

// Returns how long the forward pass of a block takes, in ns, for a whole micro-batch or for a half.
double ForwardNs(const Stages& stages, std::uint32_t block, pipeline::Half half);

}  // namespace crossover::trainer
