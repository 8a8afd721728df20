#include "examples/reductions/reducer.h"

#include <utility>

#include "examples/reductions/adasum.h"
#include "examples/reductions/cast.h"
#include "examples/reductions/quantized.h"

namespace crossover::reductions {

Reducer::Reducer(Settings settings, Peers* all, const Groups& groups)
    : settings_(std::move(settings)),
      all_(all),
      groups_(groups),
      topk_(settings_.density, settings_.seed, settings_.fault != Fault::kNoResidual) {}

void Reducer::Reduce(std::span<float> values, std::uint64_t call) {
  const shrink::Rounding rounding{settings_.seed, call};
  switch (settings_.reduction) {
    case Reduction::kSum:
      return;
    case Reduction::kBf16:
      return ReduceAsBf16(*all_, values);
    case Reduction::kQ8:
      return ReduceQuantized(groups_, values,
                             settings_.fault == Fault::kTwoBits ? TwoBitsToNearest() : EightBits(), rounding);
    case Reduction::kAdaptive:
      return ReduceQuantized(groups_, values, AdaptiveBits(), rounding);
    case Reduction::kTopK:
      return topk_.Reduce(groups_, values, call);
    case Reduction::kAdasum:
      ReduceByAdasum(*all_, values, settings_.tensors);
      for (float& value : values) value *= static_cast<float>(all_->size());
      return;
  }
}

}  // namespace crossover::reductions
