#include "benchmarks/shrink_bits/sums.h"

#include <algorithm>
#include <cmath>

#include "shrink/codec/bf16.h"
#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink_bits {
namespace {

using shrink::BitsOf;
using shrink::Buffers;
using shrink::FloatOf;
using shrink::Floats;
using shrink::Format;
using shrink::Gaussian;
using shrink::RelativeError;
using shrink::Topology;

constexpr shrink::Rounding kRounding{3, 4};
constexpr Topology kShapes[] = {{2, 1}, {1, 3}, {3, 2}, {2, 4}};

double Unequal(const Buffers& values) {
  double count = 0;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    count += std::ranges::all_of(values,
                                 [&](const Floats& each) { return BitsOf(each[i]) == BitsOf(values[0][i]); })
                 ? 0
                 : 1;
  }
  return count;
}

// Returns the bits of the bf16 that is nearest to a finite float, found by distances.
std::uint16_t NearestByDistance(float value) {
  const std::uint32_t lower = BitsOf(value) >> 16, upper = lower + 1;
  const auto number = [](std::uint32_t bits) {
    const float of_bits = FloatOf(bits << 16);
    return std::isinf(of_bits) ? std::copysign(0x1p128, of_bits) : static_cast<double>(of_bits);
  };
  const double below = std::abs(value - number(lower)), above = std::abs(number(upper) - value);
  if (below == above) return static_cast<std::uint16_t>(lower % 2 == 0 ? lower : upper);
  return static_cast<std::uint16_t>(below < above ? lower : upper);
}

}  // namespace

Buffers Flat(const Buffers& buffers, const Topology& topology, const Format& format) {
  return shrink::ExchangeFlat(buffers, topology, format, kRounding)->values;
}

Buffers Hierarchical(const Buffers& buffers, const Topology& topology, const Format& format) {
  return shrink::ExchangeHierarchical(buffers, topology, format, kRounding)->values;
}

Buffers RingOfCodes(const Buffers& buffers, const Topology&, const Format& format) {
  Floats sum = buffers[0];
  for (std::size_t hop = 1; hop < buffers.size(); ++hop) {
    sum = shrink::RoundTrip(sum, format, {9, hop, 0}).value();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += buffers[hop][i];
  }
  return Buffers(buffers.size(), shrink::RoundTrip(sum, format, {9, 0, 0}).value());
}

Buffers OwnerKeepsSum(const Buffers& buffers, const Topology& topology, const Format& format) {
  Buffers result = Flat(buffers, topology, format);
  const std::size_t ranks = buffers.size();
  const auto borders = shrink::Borders(buffers[0].size(), ranks, format.bucket);
  for (std::size_t owner = 0; owner < ranks; ++owner) {
    const std::size_t first = borders[owner], size = borders[owner + 1] - first;
    Floats sum(buffers[owner].data() + first, buffers[owner].data() + first + size);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == owner) continue;
      const Floats chunk(buffers[rank].data() + first, buffers[rank].data() + first + size);
      const auto draw = shrink::DrawOf(kRounding, topology, rank, 0, first);
      const Floats arrived = shrink::RoundTrip(chunk, format, draw).value();
      for (std::size_t i = 0; i < size; ++i) sum[i] += arrived[i];
    }
    std::ranges::copy(sum, result[owner].begin() + static_cast<std::ptrdiff_t>(first));
  }
  return result;
}

double SumError(Exchange exchange) {
  double largest = 0;
  for (const std::size_t ranks : {2U, 8U, 32U}) {
    const Buffers buffers = shrink::GaussianOfRanks(ranks, 16'384);
    const Buffers result = exchange(buffers, {ranks, 1}, {4, 128});
    largest = std::max(largest, RelativeError(result[0], shrink::ExactSum(buffers)));
  }
  return largest;
}

double UnequalRanks(Exchange exchange) {
  double count = 0;
  for (const Topology& topology : kShapes) {
    for (const std::size_t size : {0U, 1U, 9U, 99U, 100U, 101U, 599U, 601U, 4001U}) {
      Buffers buffers = shrink::GaussianOfRanks(topology.ranks(), size);
      if (size > 300) buffers[1][250] = FloatOf(shrink::kInfinityBits);
      count += Unequal(exchange(buffers, topology, {8, 100}));
    }
  }
  return count;
}

std::uint16_t CutOff(float value) { return static_cast<std::uint16_t>(BitsOf(value) >> 16); }

double NotNearest(ToHalf to_half) {
  constexpr std::uint32_t kPatterns = 1U << 20;
  double count = 0;
  for (std::uint32_t i = 0; i < kPatterns; ++i) {
    // The upper bits go over all exponents. Of the lower ones an eighth is a tie.
    const std::uint32_t low = i % 8 == 0 ? 0x8000 : static_cast<std::uint32_t>(shrink::Mix(i)) & 0xffff;
    const float value = FloatOf((i << 12 & 0xffff0000) | low);
    const std::uint16_t half = to_half(value);
    const bool right = shrink::IsNaN(value) ? std::isnan(shrink::FromBf16(half)) && (half & 0x40) != 0
                       : std::isinf(value)  ? half == BitsOf(value) >> 16
                                            : half == NearestByDistance(value);
    count += right ? 0 : 1;
  }
  return count;
}

double RingError(ToHalf to_half) {
  constexpr std::size_t kCount = 20'000, kRanks = 64;
  Floats exact(kCount, 0), sum(kCount, 0);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const Floats values = Gaussian(kCount, rank + 1);
    for (std::size_t i = 0; i < kCount; ++i) {
      exact[i] += values[i];
      sum[i] = shrink::FromBf16(to_half(sum[i] + shrink::FromBf16(to_half(values[i]))));
    }
  }
  return RelativeError(sum, exact);
}

}  // namespace crossover::shrink_bits
