// Names NCCL's functions that move data, as GPUNode and JobProfile have them.
#pragma once

#include <array>

namespace crossover::base {

// These are NCCL's names without their prefix, in the order of enum crossover_function
// (proto/arbiter_protocol.h), whose first value is 1.
inline constexpr std::array<const char*, 10> kNcclFunctions = {
    "AllReduce", "Broadcast", "Reduce",   "AllGather", "ReduceScatter",
    "Send",      "Recv",      "AlltoAll", "Gather",    "Scatter"};

}  // namespace crossover::base
