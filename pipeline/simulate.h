// Computes when each operation of a pipeline runs. Pure.
//
// Each device runs its operations in their order, each as soon as what it needs is there:
//   forward of a chunk    the forward of the chunk before, and its transfer
//   backward of a chunk   the backward of the chunk behind, and its transfer; for the last chunk its own
//                         forward
// Transfers of a link do not delay each other, and take no time of a device. The time of an iteration is
// therefore the longest path through operations and transfers. Formulas give a lower bound by the slowest
// stage, which pipelines with unequal stages often do not reach. So plans are compared by this time.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "pipeline/schedule.h"

namespace crossover::pipeline {

using Time = std::int64_t;  // ns
inline constexpr Time kNever = std::numeric_limits<Time>::max();

// A Transfer is a message between neighbours. It takes `fixed`, and `whole` more if it is that of a whole
// micro-batch, or half of `whole` if it is that of a half.
struct Transfer {
  Time fixed = 0;
  Time whole = 0;
};

// Costs holds the times of chunks, by chunk, and of the transfers between a chunk and the next one: `ahead`
// of activations, `back` of gradients. These have one entry less.
struct Costs {
  std::vector<Time> forward, backward;
  std::vector<Transfer> ahead, back;
  // Two halves of a forward pass take so much longer than the whole, as a part of it: 0.1 is a tenth.
  double slice_cost = 0;
};

// A Span says when an operation ran.
struct Span {
  Operation operation;
  int device = 0;
  Time begin = 0, end = 0;
};

// Returns the time from the first operation to the end of the last, and adds the operations to `spans` unless
// it is null. Returns kNever if the orders wait for each other. REQUIRES: the orders are those of the shape,
// and `costs` has an entry for each of its chunks.
Time Simulate(const Shape& shape, const std::vector<std::vector<Operation>>& orders, const Costs& costs,
              std::vector<Span>* spans = nullptr);

}  // namespace crossover::pipeline
