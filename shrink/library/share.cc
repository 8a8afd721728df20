#include "shrink/library/share.h"

#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink::library {

Share ShareOf(std::uint64_t count, const Position& position) {
  constexpr std::uint64_t kAlignment = 16;
  Share share;
  share.shards = PartsOf(count, position.per_node, kQ8.bucket);
  share.begin = share.shards.Begin(position.place);
  share.chunks = PartsOf(share.shards.Size(position.place), position.nodes, kQ8.bucket);
  // The first shard is the longest, and of each the first chunk.
  const Parts longest = PartsOf(share.shards.Size(0), position.nodes, kQ8.bucket);
  const std::uint64_t bytes = EncodedBytes(longest.length, kQ8.bits, kQ8.bucket);
  share.room = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return share;
}

std::uint64_t ExchangeBytes(std::uint64_t count, const Position& position) {
  return 2 * position.nodes * ShareOf(count, position).room;
}

}  // namespace crossover::shrink::library
