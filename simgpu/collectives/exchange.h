// Describes the collectives that NCCL builds of sends and receives: AlltoAll, Gather and Scatter. Pure.
#pragma once

#include <string>
#include <vector>

#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

enum class Pattern { kAlltoAll, kGather, kScatter };

// Returns the name without "nccl", such as "AlltoAll".
const char* Name(Pattern pattern);

// An Exchange is one such call of one rank. `count` is the number of elements that go from one rank to
// another.
struct Exchange {
  Pattern pattern = Pattern::kAlltoAll;
  const void* send = nullptr;
  void* recv = nullptr;
  std::uint64_t count = 0;
  ncclDataType_t type = ncclInt8;
  int root = 0;  // AlltoAll has none
};

// A Leg is one send or one receive of an exchange.
struct Leg {
  Function function = Function::kSend;  // kSend or kRecv
  int peer = 0;
  const void* send = nullptr;  // null in a receive
  void* recv = nullptr;        // null in a send

  bool operator==(const Leg&) const = default;
};

// Returns what is wrong with the arguments on rank `rank` of `ranks`, or an empty string. Gather and Scatter
// may be in place on the root: its own block is then at the same address in both buffers. AlltoAll has no
// such form.
std::string FindFault(const Exchange& exchange, int rank, int ranks);

// Returns the sends and receives of rank `rank` of `ranks`. All of them run at the same time. Leaves out the
// block that the root keeps in place. REQUIRES: FindFault() has found no fault.
std::vector<Leg> Legs(const Exchange& exchange, int rank, int ranks);

}  // namespace simgpu::nccl
