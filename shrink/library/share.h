// Divides a call with 8 bits among ranks, and counts its bytes. Pure values.
#pragma once

#include <cstdint>

#include "shrink/codec/parts.h"
#include "shrink/library/topology.h"

namespace crossover::shrink::library {

// A Share says what a rank has to do with of a call. Node n owns chunk n of the shard.
struct Share {
  Parts shards;            // of the call, for the places of a node
  std::uint64_t begin;     // of this place's shard
  Parts chunks;            // of that shard
  std::uint64_t room = 0;  // bytes from one chunk's codes to the next
};
// Returns the share of a rank. `room` is the same on all ranks.
Share ShareOf(std::uint64_t count, const Position& position);

// Returns how many bytes of the communicator's buffer a call takes: codes for all nodes, twice.
std::uint64_t ExchangeBytes(std::uint64_t count, const Position& position);

}  // namespace crossover::shrink::library
