// The arithmetic of reductions. Pure.
//
// Deterministic: the caller fixes the order in which contributions are folded, every element is folded by one
// IEEE operation in its own type (16-bit floats through float32, rounded to nearest even after each step).
#pragma once

#include <cstddef>
#include <cstdint>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// into[i] = from[i] op into[i] for `count` elements. `op` is sum, prod, max or min; avg folds like sum.
// Neither buffer needs to be aligned. Precondition: CanReduce(type).
void Fold(void* into, const void* from, std::size_t count, ncclDataType_t type, ncclRedOp_t op);

// What avg does once, after the last fold: divides by the number of ranks (integers truncate).
void Divide(void* values, std::size_t count, ncclDataType_t type, int ranks);

// IEEE binary16 and bfloat16, to and from float32; rounds to nearest even, keeps NaN and infinity.
float HalfToFloat(std::uint16_t half);
std::uint16_t FloatToHalf(float value);
float BfloatToFloat(std::uint16_t value);
std::uint16_t FloatToBfloat(float value);

}  // namespace simgpu::nccl
