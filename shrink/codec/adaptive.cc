#include "shrink/codec/adaptive.h"

#include <algorithm>

#include "shrink/codec/q8.h"

namespace crossover::shrink {
namespace {

// A Memory has room for one choice.
struct Memory {
  Memory(std::size_t chunks, std::size_t parts)
      : best(parts + 1),
        next(parts + 1),
        chosen(chunks * (parts + 1)),
        raises(chunks),
        order(chunks),
        before(chunks) {}
  ChoiceRoom room() { return {best, next, chosen, raises, order, before}; }

  std::vector<std::uint64_t> best, next;
  std::vector<std::uint8_t> chosen;
  std::vector<Raise> raises;
  std::vector<std::size_t> order;
  ChunkBits before;
};

}  // namespace

ChunkStatistics StatisticsOf(const float* values, std::size_t count, unsigned bucket) {
  ChunkStatistics chunk{.count = count};
  for (std::size_t begin = 0; begin < count; begin += bucket) {
    const std::size_t size = std::min<std::size_t>(bucket, count - begin);
    Bounds bounds;
    for (std::size_t i = 0; i < size; ++i) bounds.Include(values[begin + i]);
    const Scale scale = ScaleOf(bounds, 1);
    if (IsFinite(scale.min)) {
      const double range = static_cast<double>(bounds.greatest) - static_cast<double>(bounds.least);
      chunk.one_bit_error += static_cast<double>(size) * range * range / 6;
    }
  }
  return chunk;
}

std::optional<ChunkBits> ChooseByKnapsack(const std::vector<ChunkStatistics>& chunks,
                                          const AdaptiveRule& rule) {
  Memory memory(chunks.size(), rule.parts);
  ChunkBits bits(chunks.size());
  if (!ChooseByKnapsack(Chunks(chunks), rule, memory.room(), bits)) return std::nullopt;
  return bits;
}

std::optional<ChunkBits> ChooseGreedily(const std::vector<ChunkStatistics>& chunks,
                                        const AdaptiveRule& rule) {
  Memory memory(chunks.size(), 0);
  ChunkBits bits(chunks.size());
  if (!ChooseGreedily(Chunks(chunks), rule, memory.room(), bits)) return std::nullopt;
  return bits;
}

std::optional<ChunkBits> ChooseBits(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule) {
  Memory memory(chunks.size(), rule.parts);
  ChunkBits bits(chunks.size()), other(chunks.size());
  if (!ChooseBits(Chunks(chunks), rule, memory.room(), other, bits)) return std::nullopt;
  return bits;
}

}  // namespace crossover::shrink
