// Trains the transformer of model.h with several ranks, which are threads, by a reduction of
// examples/reductions.
#pragma once

#include <cstdint>

#include "examples/reductions/reducer.h"

namespace crossover::transformer {

struct Setting {
  reductions::Reduction reduction = reductions::Reduction::kSum;
  reductions::Fault fault = reductions::Fault::kNone;
  std::uint64_t seed = 1;
  std::uint64_t iterations = 300;
  double learning_rate = 0.5;
};

struct Outcome {
  double first_loss = 0;  // of held-out sequences, before the first iteration
  double loss = 0;        // and after the last one
  bool equal = false;     // all ranks have the same parameters, bit for bit
};

inline constexpr std::size_t kRanks = 4;
inline constexpr std::size_t kBatch = 4;  // sequences of a rank in an iteration

// Trains by SGD without momentum. The tokens follow a source that draws each from one of two tables, with
// the same chance: of what follows the last token, and of what follows the one before. A model without
// attention can know the first table only. The tables are the same for all seeds.
Outcome Train(const Setting& setting);

}  // namespace crossover::transformer
