// Implements the arithmetic of reductions. Pure.
//
// It is deterministic. The caller fixes the order in which contributions are folded. Every element is
// folded by one IEEE operation in its own type; 16-bit floats are computed in float32 and rounded to
// nearest even after each step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// Computes into[i] = from[i] op into[i] for `count` elements. `op` is sum, prod, max or min; avg folds like
// sum. Neither buffer needs to be aligned. REQUIRES: CanReduce(type).
void Fold(void* into, const void* from, std::size_t count, ncclDataType_t type, ncclRedOp_t op);

// Divides by the number of ranks, as avg does once after the last fold. Integers truncate.
// REQUIRES: CanReduce(type).
void Divide(void* values, std::size_t count, ncclDataType_t type, int ranks);

}  // namespace simgpu::nccl
