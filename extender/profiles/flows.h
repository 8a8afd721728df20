// Says what the pods of a job send to each other, by what they call. Pure.
//
// NCCL moves the bytes of a collective along rings over the ranks. Of k ranks each sends to the next one:
//
//   function           bytes                  of B, the bytes as the arguments of a call count them
//   AllReduce          2 (k-1)/k x B          all of a rank's buffer
//   ReduceScatter      (k-1) x B              the share of one rank (recvcount)
//   AllGather          (k-1) x B              the share of one rank (sendcount)
//   Broadcast          B, from the root on    the last rank sends nothing
//   Reduce             B, to the root         the root sends nothing
//
// These are the factors of the bus bandwidth in doc/PERFORMANCE.md of NVIDIA's nccl-tests: 2 (n-1)/n for
// AllReduce, (n-1)/n of all n shares for ReduceScatter and AllGather, 1 for Broadcast and Reduce. Trees send
// as much in sum (the same page), along other edges. The other functions are groups of Send and Recv within
// NCCL: each rank sends B to each other one in AlltoAll, to the root in Gather, and the root to each in
// Scatter.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "extender/cluster/communication.h"
#include "extender/placement/mapping.h"

namespace crossover::extender {

// Returns the flows of an iteration between different pods, one for each pair at most. Ranks of one pod send
// each other nothing over the network. A flow has kMostOfFlow bytes at most. Returns nothing if there are
// more than kMostFlows, because it would take long to map them.
std::optional<std::vector<placement::Flow>> FlowsOf(std::span<const CallGroup> groups);
inline constexpr std::size_t kMostFlows = 1 << 16;
inline constexpr placement::Bytes kMostOfFlow = placement::Bytes{1} << 47;  // the sum of all fits in 64 bits

// Returns the bytes that the pod which sends or gets most of them sends to other pods in an iteration, or
// gets from them; kMostOfFlow at most. Returns 0 if too few runs agree (kRunsThatAgree), or if FlowsOf()
// returns nothing.
placement::Bytes LinkBytesOf(const Communication& communication);

}  // namespace crossover::extender
