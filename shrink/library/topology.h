// Decides from what all ranks of a communicator say of themselves whether they exchange codes, and how they
// are divided. Pure values: each rank has the same list, so each comes to the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shrink/vote/messages.h"

namespace crossover::shrink::library {

// It grows with each change of what ranks send each other, or of which random numbers they take.
inline constexpr std::uint64_t kLayout = 2;

// A Member is what a rank says of itself.
struct Member {
  std::uint64_t node = 0;  // equal on ranks of one node, as NCCL tells nodes apart
  std::uint64_t seed = 0;
  std::uint64_t layout = kLayout;
  std::uint64_t error = 0;  // CROSSOVER_SHRINK_ERROR, if the level is adaptive
};

// A Position says where a rank is. Node n has the ranks from n * per_node on.
struct Position {
  std::uint32_t nodes = 0;
  std::uint32_t per_node = 0;
  std::uint32_t node = 0;
  std::uint32_t place = 0;  // in its node

  std::uint64_t ranks() const { return std::uint64_t{nodes} * per_node; }
  std::uint64_t rank() const { return std::uint64_t{node} * per_node + place; }
};

// Returns why the ranks do not exchange codes, or an empty reason and sets `position`, that of `rank`. They
// do if there are several nodes, each with equally many ranks that follow each other, and if seed, layout and
// error are the same on all. `level` is the word of their level. REQUIRES: rank < members.size().
vote::Reason WhyNotExchanged(const char* level, std::span<const Member> members, std::size_t rank,
                             Position* position);

// Returns the number of a node, from its name.
std::uint64_t NodeOf(std::span<const char> name);

// Returns the seed of the random numbers of a communicator.
std::uint64_t SeedOf(const vote::Id& id);

}  // namespace crossover::shrink::library
