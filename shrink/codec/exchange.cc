#include "shrink/codec/exchange.h"

#include <algorithm>
#include <span>
#include <utility>

#include "shrink/codec/parts.h"

namespace crossover::shrink {
namespace {

struct Exchange {
  const Topology& topology;
  const Format& format;
  const Rounding& rounding;
  Exchanged result;

  void Count(std::size_t from, std::size_t to, std::uint64_t bytes) {
    Sent& sent = result.sent[from];
    (from / topology.per_node == to / topology.per_node ? sent.within_node : sent.between_nodes) += bytes;
  }
};

using Bytes = std::vector<std::uint8_t>;

Bytes Encoded(const Exchange& exchange, std::span<const float> values, std::size_t rank, unsigned step,
              std::size_t first) {
  Bytes bytes(EncodedBytes(values.size(), exchange.format.bits, exchange.format.bucket));
  Encode(values.data(), values.size(), exchange.format,
         DrawOf(exchange.rounding, exchange.topology, rank, step, first), bytes.data(), bytes.size());
  return bytes;
}

// Reduces one chunk, which begins at `first`, to its owner, and gives it to all ranks of the group.
void ReduceChunk(Exchange& exchange, std::span<const std::size_t> group, std::size_t owner, std::size_t first,
                 std::size_t count) {
  const auto chunk_of = [&](std::size_t rank) {
    return std::span(exchange.result.values[rank]).subspan(first, count);
  };
  const std::span<float> sum = chunk_of(owner);
  for (const std::size_t rank : group) {
    if (rank == owner) continue;
    const Bytes bytes = Encoded(exchange, chunk_of(rank), rank, 0, first);
    exchange.Count(rank, owner, bytes.size());
    DecodeAdd(bytes.data(), bytes.size(), count, exchange.format, sum.data());
  }
  const Bytes bytes = Encoded(exchange, sum, owner, 1, first);
  for (const std::size_t rank : group) {
    if (rank != owner) exchange.Count(owner, rank, bytes.size());
    Decode(bytes.data(), bytes.size(), count, exchange.format, chunk_of(rank).data());
  }
}

// Exchanges the elements from `first` to `last` among the ranks of a group. A rank alone keeps them as they
// are.
void ReduceInTwoSteps(Exchange& exchange, std::span<const std::size_t> group, std::size_t first,
                      std::size_t last) {
  if (group.size() < 2) return;
  const auto borders = Borders(last - first, group.size(), exchange.format.bucket);
  for (std::size_t i = 0; i < group.size(); ++i)
    ReduceChunk(exchange, group, group[i], first + borders[i], borders[i + 1] - borders[i]);
}

// Adds the elements from `first` to `last` of a node's ranks. The sum lies with the rank at `place` in that
// node.
void ReduceWithinNode(Exchange& exchange, std::size_t node, std::size_t place, std::size_t first,
                      std::size_t last) {
  const std::size_t begin = node * exchange.topology.per_node;
  const std::size_t owner = begin + place;
  std::vector<float> sum(last - first, 0);
  for (std::size_t rank = begin; rank < begin + exchange.topology.per_node; ++rank) {
    if (rank != owner) exchange.Count(rank, owner, sum.size() * sizeof(float));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += exchange.result.values[rank][first + i];
  }
  std::ranges::copy(sum, exchange.result.values[owner].begin() + static_cast<std::ptrdiff_t>(first));
}

// Copies these elements from the rank at `place` in a node to the node's other ranks.
void GatherWithinNode(Exchange& exchange, std::size_t node, std::size_t place, std::size_t first,
                      std::size_t last) {
  const std::size_t begin = node * exchange.topology.per_node;
  const std::size_t owner = begin + place;
  for (std::size_t rank = begin; rank < begin + exchange.topology.per_node; ++rank) {
    if (rank == owner) continue;
    exchange.Count(owner, rank, (last - first) * sizeof(float));
    const auto shard = std::span(exchange.result.values[owner]).subspan(first, last - first);
    std::ranges::copy(shard, exchange.result.values[rank].begin() + static_cast<std::ptrdiff_t>(first));
  }
}

bool AreValid(const Buffers& buffers, const Topology& topology, const Format& format) {
  return !buffers.empty() && buffers.size() == topology.ranks() && IsValid(buffers[0].size(), format) &&
         std::ranges::all_of(buffers, [&](const auto& buffer) { return buffer.size() == buffers[0].size(); });
}

}  // namespace

std::vector<std::size_t> Borders(std::size_t count, std::size_t parts, std::size_t bucket) {
  const Parts divided = PartsOf(count, parts, bucket);
  std::vector<std::size_t> borders(parts + 1);
  for (std::size_t p = 0; p <= parts; ++p) borders[p] = divided.Begin(p);
  return borders;
}

Draw DrawOf(const Rounding& rounding, const Topology& topology, std::size_t rank, unsigned step,
            std::size_t first) {
  return {rounding.seed, CallOf(rounding, topology.ranks(), rank, step), first};
}

std::optional<Exchanged> ExchangeFlat(const Buffers& buffers, const Topology& topology, const Format& format,
                                      const Rounding& rounding) {
  if (!AreValid(buffers, topology, format)) return std::nullopt;
  Exchange exchange{topology, format, rounding, {buffers, std::vector<Sent>(buffers.size())}};
  std::vector<std::size_t> group(buffers.size());
  for (std::size_t rank = 0; rank < group.size(); ++rank) group[rank] = rank;
  ReduceInTwoSteps(exchange, group, 0, buffers[0].size());
  return std::move(exchange.result);
}

std::optional<Exchanged> ExchangeHierarchical(const Buffers& buffers, const Topology& topology,
                                              const Format& format, const Rounding& rounding) {
  if (!AreValid(buffers, topology, format)) return std::nullopt;
  Exchange exchange{topology, format, rounding, {buffers, std::vector<Sent>(buffers.size())}};
  const auto borders = Borders(buffers[0].size(), topology.per_node, format.bucket);
  for (std::size_t place = 0; place < topology.per_node; ++place) {
    std::vector<std::size_t> group;
    for (std::size_t node = 0; node < topology.nodes; ++node) {
      ReduceWithinNode(exchange, node, place, borders[place], borders[place + 1]);
      group.push_back(node * topology.per_node + place);
    }
    ReduceInTwoSteps(exchange, group, borders[place], borders[place + 1]);
    for (std::size_t node = 0; node < topology.nodes; ++node)
      GatherWithinNode(exchange, node, place, borders[place], borders[place + 1]);
  }
  return std::move(exchange.result);
}

}  // namespace crossover::shrink
