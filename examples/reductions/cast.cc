#include "examples/reductions/cast.h"

#include "shrink/codec/bf16.h"

namespace crossover::reductions {

void ReduceAsBf16(Peers& all, std::span<float> values) {
  std::vector<std::uint16_t> narrow(values.size());
  shrink::Narrow(values.data(), values.size(), narrow.data());
  all.AllReduceBf16(narrow);
  shrink::Widen(narrow.data(), narrow.size(), values.data());
}

}  // namespace crossover::reductions
