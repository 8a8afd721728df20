// Says in which groups a rank reduces, and takes a reduction through the nodes: ranks of a node add their
// gradients without loss, and only what nodes send each other is compressed. This is the hierarchy of
// HiTopKComm (arXiv 2010.10458). Pure but for what Peers do.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "examples/reductions/peers.h"
#include "shrink/codec/exchange.h"

namespace crossover::reductions {

// A Seat is the place of a rank among all.
struct Seat {
  shrink::Topology topology;
  std::size_t rank = 0;
  std::size_t node() const { return rank / topology.per_node; }
  std::size_t place() const { return rank % topology.per_node; }  // in its node
};

// The Groups are those of one rank. `within` has the ranks of its node, `across` those with the same place in
// their nodes, both in the order of ranks. It owns neither.
struct Groups {
  Seat seat;
  Peers* within = nullptr;  // null: a rank is alone on its node
  Peers* across = nullptr;
};

// Returns the topology that follows from the LOCAL_RANK of each rank, in the order of ranks, or what is wrong
// with them. On a single node each rank counts as a node: else nothing would be compressed, and no
// message would say so.
std::variant<shrink::Topology, std::string> TopologyOf(std::span<const std::uint32_t> local_ranks);

// A ShardWork reduces a shard over `across`, in place. `first` is the index of its first element among all
// values.
using ShardWork = std::function<void(std::span<float> shard, std::size_t first)>;

// Replaces `values` on each rank by what `work` makes of the sums within nodes: each rank gets a shard of its
// node's sum, calls `work`, and gives the result to the others of its node. Shards have the borders of
// shrink::Borders() for `grain`. All ranks have as many values.
void ReduceThroughNodes(const Groups& groups, std::span<float> values, std::size_t grain,
                        const ShardWork& work);

}  // namespace crossover::reductions
