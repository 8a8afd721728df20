#include "examples/reductions/quantized.h"

#include <algorithm>
#include <cstring>

namespace crossover::reductions {
namespace {

constexpr unsigned kBucket = 512;
constexpr unsigned kSmallBucket = 128;

using shrink::ChunkBits;
using shrink::ChunkStatistics;
using shrink::Draw;
using shrink::Format;

// A Shard is what one rank reduces with the others of `across`. Part p of it belongs to place p.
struct Shard {
  Peers& across;
  const Seat& seat;
  const Quantizer& quantizer;
  const shrink::Rounding& rounding;
  std::size_t first;  // of its elements among all
  std::span<float> values;
  std::vector<std::size_t> borders;  // of the parts
  ChunkBits bits;                    // of each chunk

  Format FormatOf(std::size_t begin) const { return {bits[begin / quantizer.chunk], quantizer.rule.bucket}; }
  // Calls work(begin, count, format, bytes) for each chunk of a part, with the place of its bytes among the
  // part's. Returns the bytes of the part.
  template <typename Work>
  std::size_t ForEachChunk(std::size_t part, Work work) const {
    std::size_t place = 0;
    for (std::size_t begin = borders[part]; begin < borders[part + 1]; begin += quantizer.chunk) {
      const std::size_t count = std::min(quantizer.chunk, borders[part + 1] - begin);
      const Format format = FormatOf(begin);
      work(begin, count, format, place);
      place += shrink::EncodedBytes(count, format.bits, format.bucket);
    }
    return place;
  }
  std::size_t BytesOfPart(std::size_t part) const {
    return ForEachChunk(part, [](auto...) {});
  }
};

// Returns the statistics of the chunks of all ranks together: the errors of their encodings add up.
std::vector<ChunkStatistics> SharedStatistics(Peers& across, std::span<const float> values,
                                              const Quantizer& quantizer) {
  std::vector<ChunkStatistics> chunks;
  for (std::size_t begin = 0; begin < values.size(); begin += quantizer.chunk) {
    const std::size_t count = std::min(quantizer.chunk, values.size() - begin);
    chunks.push_back(shrink::StatisticsOf(values.data() + begin, count, quantizer.rule.bucket));
  }
  std::vector<double> mine;
  for (const ChunkStatistics& chunk : chunks) mine.push_back(chunk.one_bit_error);
  Bytes bytes(mine.size() * sizeof(double));
  if (!bytes.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
  std::vector<Bytes> sent(across.size(), bytes);
  std::vector<std::size_t> expected(across.size(), bytes.size());
  sent[across.place()].clear();
  expected[across.place()] = 0;
  std::vector<Bytes> received = across.Exchange(sent, expected);
  received[across.place()] = bytes;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    chunks[i].one_bit_error = 0;
    for (const Bytes& of : received) {  // in the order of places, so that all ranks get the same sum
      double error = 0;
      std::memcpy(&error, of.data() + i * sizeof error, sizeof error);
      chunks[i].one_bit_error += error;
    }
  }
  return chunks;
}

// Returns the bits of each chunk. Where the rule finds none, all chunks get the most bits.
ChunkBits BitsOfChunks(Peers& across, std::span<const float> values, const Quantizer& quantizer) {
  const std::size_t chunks = (values.size() + quantizer.chunk - 1) / quantizer.chunk;
  if (quantizer.bits != 0) return ChunkBits(chunks, static_cast<std::uint8_t>(quantizer.bits));
  const auto chosen = shrink::ChooseBits(SharedStatistics(across, values, quantizer), quantizer.rule);
  return chosen.value_or(ChunkBits(chunks, static_cast<std::uint8_t>(quantizer.rule.most_bits)));
}

// `step` is 0 for what a rank contributes and 1 for the sum.
Bytes Encoded(const Shard& shard, std::size_t part, unsigned step) {
  Bytes bytes(shard.BytesOfPart(part));
  shard.ForEachChunk(part, [&](std::size_t begin, std::size_t count, const Format& format,
                               std::size_t place) {
    std::vector<float> rounded;
    const float* values = shard.values.data() + begin;
    if (shard.quantizer.to_nearest) {
      rounded.assign(values, values + count);
      RoundToLevels(rounded, format);
      values = rounded.data();
    }
    const Draw draw = DrawOf(shard.rounding, shard.seat.topology, shard.seat.rank, step, shard.first + begin);
    shrink::Encode(values, count, format, draw, bytes.data() + place,
                   shrink::EncodedBytes(count, format.bits, format.bucket));
  });
  return bytes;
}

// Decodes a part into the shard. If `kAdd`, it adds the values to those that are there.
template <bool kAdd>
void DecodePart(const Shard& shard, std::size_t part, const Bytes& bytes) {
  shard.ForEachChunk(part, [&](std::size_t begin, std::size_t count, const Format& format,
                               std::size_t place) {
    shrink::DecodeInto<kAdd>(bytes.data() + place, shrink::EncodedBytes(count, format.bits, format.bucket),
                             count, format, shard.values.data() + begin);
  });
}

void ReduceShard(const Shard& shard) {
  Peers& across = shard.across;
  const std::size_t own = across.place();
  std::vector<Bytes> sent(across.size());
  std::vector<std::size_t> expected(across.size());
  for (std::size_t place = 0; place < across.size(); ++place) {
    if (place == own) continue;
    sent[place] = Encoded(shard, place, 0);
    expected[place] = shard.BytesOfPart(own);
  }
  const std::vector<Bytes> parts = across.Exchange(sent, expected);
  for (std::size_t place = 0; place < across.size(); ++place) {
    if (place != own) DecodePart<true>(shard, own, parts[place]);
  }
  const Bytes sum = Encoded(shard, own, 1);
  for (std::size_t place = 0; place < across.size(); ++place) {
    sent[place] = place == own ? Bytes() : sum;
    expected[place] = place == own ? 0 : shard.BytesOfPart(place);
  }
  std::vector<Bytes> sums = across.Exchange(sent, expected);
  sums[own] = sum;
  for (std::size_t place = 0; place < across.size(); ++place) DecodePart<false>(shard, place, sums[place]);
}

}  // namespace

Quantizer EightBits() {
  Quantizer quantizer{.chunk = kBucket, .bits = 8, .rule = {}};
  quantizer.rule.bucket = kBucket;
  return quantizer;
}

Quantizer AdaptiveBits() {
  Quantizer quantizer{.chunk = 4 * kSmallBucket, .bits = 0, .rule = {}};
  quantizer.rule.bucket = kSmallBucket;
  return quantizer;
}

Quantizer TwoBitsToNearest() {
  Quantizer quantizer = EightBits();
  quantizer.bits = 2;
  quantizer.to_nearest = true;
  return quantizer;
}

void ReduceQuantized(const Groups& groups, std::span<float> values, const Quantizer& quantizer,
                     const shrink::Rounding& rounding) {
  Peers& across = *groups.across;
  ReduceThroughNodes(groups, values, quantizer.chunk, [&](std::span<float> shard, std::size_t first) {
    if (across.size() < 2) return;
    ReduceShard({across, groups.seat, quantizer, rounding, first, shard,
                 shrink::Borders(shard.size(), across.size(), quantizer.chunk),
                 BitsOfChunks(across, shard, quantizer)});
  });
}

void RoundToLevels(std::span<float> values, const Format& format) {
  for (std::size_t begin = 0; begin < values.size(); begin += format.bucket) {
    const auto bucket = values.subspan(begin, std::min<std::size_t>(format.bucket, values.size() - begin));
    shrink::Bounds bounds;
    for (const float value : bucket) bounds.Include(value);
    const shrink::Scale scale = shrink::ScaleOf(bounds, format.bits);
    for (float& value : bucket)
      value = shrink::ValueOf(shrink::LevelOf(value, scale, format.bits, 0.5f), scale);
  }
}

}  // namespace crossover::reductions
