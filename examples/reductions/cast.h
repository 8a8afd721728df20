// Adds gradients as bf16: half of the bytes. Values are rounded once before the sum and once at each addition
// of it.
#pragma once

#include <span>

#include "examples/reductions/peers.h"

namespace crossover::reductions {

// Replaces `values` by their sum over all ranks, in place. All ranks get the same bits. NaN and infinity come
// through.
void ReduceAsBf16(Peers& all, std::span<float> values);

}  // namespace crossover::reductions
