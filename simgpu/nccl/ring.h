// The ring algorithm as data: what one rank sends to its successor and receives from its predecessor, step by
// step. Pure.
//
// An all-reduce over n ranks is a reduce-scatter of n - 1 steps and an all-gather of n - 1 steps over n
// chunks. Chunk c is folded in the order c, c + 1, ..., c + n - 1 and the finished chunk is copied on, so
// that every rank ends with the same bits. Broadcast and reduce are chains along the ring.
#pragma once

#include <cstdint>
#include <vector>

#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

// Bytes of the staging buffer. Empty: nothing to do.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const Range&) const = default;
};

// In one step a rank may send one range and receive one. What it sends in a step must have been received in
// the step before where that step received the same range; else it is ready from the start.
struct Step {
  Range send;
  Range recv;
  bool fold = false;    // what is received is folded into the range; else it replaces it
  bool divide = false;  // the last fold of an average: divide what results
};

struct Plan {
  std::vector<Step> steps;
  std::uint64_t staging_bytes = 0;
  Range input;   // where sendbuff belongs; empty where this rank contributes nothing
  Range output;  // what goes to recvbuff; empty where this rank gets nothing
};

// Precondition: the call is valid, not point to point, 0 <= rank < ranks, ranks >= 2.
Plan MakePlan(const Call& call, int rank, int ranks);

// Part `index` of `parts` of `count` elements of `element` bytes, parts differing by at most one element.
Range Part(std::uint64_t count, std::uint64_t element, std::uint64_t index, std::uint64_t parts);

// How far into step `step` this rank may send, when it has received all steps before `recv_step` and
// `recv_bytes` bytes of that one.
std::uint64_t Sendable(const Plan& plan, std::size_t step, std::size_t recv_step, std::uint64_t recv_bytes);

}  // namespace simgpu::nccl
