// Describes the ring algorithm as data: what one rank sends to its successor and receives from its
// predecessor, step by step. Pure.
//
// An all-reduce over n ranks works on n chunks. It is a reduce-scatter of n - 1 steps and then an all-gather
// of n - 1 steps. Chunk c is folded in the order c, c + 1, ..., c + n - 1. The finished chunk is copied on,
// so every rank ends with the same bits. Broadcast and reduce are chains along the ring.
#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

// A Range is a part of the staging buffer. If it is empty, there is nothing to do.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Range&) const = default;
};

// In one Step a rank may send one range and receive one. If the step before received the range that this
// step sends, that data must be there first. Otherwise the range is ready from the start.
struct Step {
  Range send;
  Range recv;
  bool fold = false;    // received data is folded into the range; otherwise it replaces the range
  bool divide = false;  // last fold of an average: divide the result
};

// A Plan is the steps of one rank for one call.
struct Plan {
  std::vector<Step> steps;
  std::uint64_t staging_bytes = 0;
  Range input;   // where the data of sendbuff goes; empty if this rank contributes nothing
  Range output;  // what goes to recvbuff; empty if this rank gets nothing
};

// Returns the plan of one rank. REQUIRES: the call is valid and not point to point, 0 <= rank < ranks,
// ranks >= 2.
Plan MakePlan(const Call& call, int rank, int ranks);

// Returns part `index` of `parts` of `count` elements of `element` bytes. Parts differ by at most one
// element.
Range Part(std::uint64_t count, std::uint64_t element, std::uint64_t index, std::uint64_t parts);

// Returns how many bytes of step `step` this rank may send, if it has received all steps before `recv_step`
// and `recv_bytes` bytes of that step.
std::uint64_t Sendable(const Plan& plan, std::size_t step, std::size_t recv_step, std::uint64_t recv_bytes);

}  // namespace simgpu::nccl
