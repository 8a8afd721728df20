#include "examples/reductions/groups.h"

#include <algorithm>

namespace crossover::reductions {

std::variant<shrink::Topology, std::string> TopologyOf(std::span<const std::uint32_t> local_ranks) {
  const std::size_t per_node = std::size_t{std::ranges::max(local_ranks)} + 1;
  for (std::size_t rank = 0; rank < local_ranks.size(); ++rank) {
    if (local_ranks[rank] == rank % per_node) continue;
    return "environment: LOCAL_RANK of rank " + std::to_string(rank) + ": expected " +
           std::to_string(rank % per_node) + ", as each node has " + std::to_string(per_node) +
           " ranks that follow each other, got " + std::to_string(local_ranks[rank]);
  }
  if (local_ranks.size() % per_node != 0) {
    return "environment: WORLD_SIZE: expected a multiple of the " + std::to_string(per_node) +
           " ranks of a node, got " + std::to_string(local_ranks.size());
  }
  if (per_node == local_ranks.size()) return shrink::Topology{per_node, 1};
  return shrink::Topology{local_ranks.size() / per_node, per_node};
}

void ReduceThroughNodes(const Groups& groups, std::span<float> values, std::size_t grain,
                        const ShardWork& work) {
  const std::size_t per_node = groups.seat.topology.per_node;
  if (per_node == 1) return work(values, 0);
  const std::vector<std::size_t> borders = shrink::Borders(values.size(), per_node, grain);
  const std::size_t place = groups.seat.place();
  const std::size_t length = borders[1];  // of the longest shard: NCCL takes equal ones only
  std::vector<float> all(length * per_node), mine(length);
  std::ranges::copy(values, all.begin());
  groups.within->ReduceScatterSum(all, mine);
  work(std::span(mine).first(borders[place + 1] - borders[place]), borders[place]);
  groups.within->AllGather(mine, all);
  std::ranges::copy(std::span(all).first(values.size()), values.begin());
}

}  // namespace crossover::reductions
