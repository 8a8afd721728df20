#include "simgpu/image/zstd/huffman.h"

#include "simgpu/image/zstd/fse.h"

namespace simgpu::image::zstd {
namespace {

constexpr int kMostBits = 11;
constexpr std::size_t kMostWeights = 255;  // the last one of 256 follows from the others

// Reads weights that two states give in turn, until the stream ends.
std::optional<std::vector<std::uint8_t>> ReadCodedWeights(View bytes) {
  constexpr int kMostAccuracy = 6;
  const auto table = ReadTable(&bytes, kMostAccuracy, kMostBits + 1);
  if (!table) return std::nullopt;
  BackwardBits bits(bytes);
  std::uint32_t now = table->First(&bits), other = table->First(&bits);
  if (bits.Overrun()) return std::nullopt;
  std::vector<std::uint8_t> weights;
  while (weights.size() < kMostWeights) {
    weights.push_back(table->Symbol(now));
    now = table->Next(now, &bits);
    if (bits.Overrun()) {
      weights.push_back(table->Symbol(other));
      return weights;
    }
    std::swap(now, other);
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint8_t>> ReadWeights(View* bytes) {
  if (bytes->empty()) return std::nullopt;
  const std::size_t first = bytes->front();
  *bytes = bytes->subspan(1);
  const bool coded = first < 128;
  const std::size_t count = first - 127;  // of weights that are not coded
  const std::size_t size = coded ? first : (count + 1) / 2;
  if (size > bytes->size()) return std::nullopt;
  const View part = bytes->first(size);
  *bytes = bytes->subspan(size);
  if (coded) return ReadCodedWeights(part);
  std::vector<std::uint8_t> weights;
  for (std::size_t i = 0; i < count; ++i) {
    weights.push_back(i % 2 == 0 ? part[i / 2] >> 4 : part[i / 2] & 15);
  }
  return weights;
}

}  // namespace

std::optional<HuffmanTable> ReadHuffman(View* bytes) {
  auto weights = ReadWeights(bytes);
  if (!weights || weights->size() > kMostWeights) return std::nullopt;
  std::uint32_t sum = 0;
  for (const std::uint8_t weight : *weights) {
    if (weight > kMostBits) return std::nullopt;
    if (weight > 0) sum += 1u << (weight - 1);
  }
  const int most_bits = static_cast<int>(std::bit_width(sum));
  if (sum == 0 || most_bits > kMostBits) return std::nullopt;
  const std::uint32_t left = (1u << most_bits) - sum;
  if (!std::has_single_bit(left)) return std::nullopt;
  weights->push_back(static_cast<std::uint8_t>(std::bit_width(left)));
  HuffmanTable table;
  table.most_bits = most_bits;
  for (int weight = 1; weight <= most_bits; ++weight) {  // the longest codes come first
    for (std::size_t symbol = 0; symbol < weights->size(); ++symbol) {
      if ((*weights)[symbol] != weight) continue;
      table.codes.insert(
          table.codes.end(), std::size_t{1} << (weight - 1),
          {static_cast<std::uint8_t>(symbol), static_cast<std::uint8_t>(most_bits + 1 - weight)});
    }
  }
  if (table.codes.size() != std::size_t{1} << most_bits) return std::nullopt;
  return table;
}

bool AppendSymbols(const HuffmanTable& table, View stream, std::size_t count,
                   std::vector<std::uint8_t>* out) {
  BackwardBits bits(stream);
  for (std::size_t i = 0; i < count && !bits.Overrun(); ++i) {
    const HuffmanTable::Code code = table.codes[bits.Peek(table.most_bits)];
    out->push_back(code.symbol);
    bits.Skip(code.bits);
  }
  return bits.AtEnd();
}

}  // namespace simgpu::image::zstd
