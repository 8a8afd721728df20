#include "shrink/codec/adaptive.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "shrink/codec/q8.h"

namespace crossover::shrink {
namespace {

constexpr double kRounding = 1e-12;  // of sums of errors, as a part of them
constexpr double kNear = 1e-6;       // within this of the budget a running sum is not exact enough to decide

bool IsValid(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule) {
  const bool bits = rule.least_bits >= 1 && rule.least_bits <= rule.most_bits &&
                    rule.most_bits <= kMostBits && rule.uniform_bits >= 1 && rule.uniform_bits <= kMostBits;
  return bits && rule.parts >= 1 && std::isfinite(rule.alpha) && rule.alpha > 0 &&
         std::ranges::all_of(chunks, [&](const ChunkStatistics& chunk) {
           return shrink::IsValid(chunk.count, {rule.most_bits, rule.bucket}) &&
                  std::isfinite(chunk.one_bit_error) && chunk.one_bit_error >= 0;
         });
}

std::uint64_t BytesOf(const ChunkStatistics& chunk, unsigned bits, const AdaptiveRule& rule) {
  return EncodedBytes(chunk.count, bits, rule.bucket);
}

double ErrorOf(const std::vector<ChunkStatistics>& chunks, const ChunkBits& bits) {
  double error = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) error += ExpectedError(chunks[i], bits[i]);
  return error;
}

// Returns how many parts of the budget an error takes, rounded up, or `parts` + 1 for more than all of them.
std::size_t PartsOf(double error, double budget, std::size_t parts) {
  if (error == 0) return 0;
  if (!(error <= budget)) return parts + 1;
  return static_cast<std::size_t>(std::ceil(error / budget * static_cast<double>(parts)));
}

// A Raise gives a chunk one bit more.
struct Raise {
  double gain = 0;  // of error for each byte
  std::size_t chunk = 0;
  bool operator<(const Raise& other) const {
    return gain != other.gain ? gain < other.gain : chunk > other.chunk;
  }
};

Raise RaiseOf(const std::vector<ChunkStatistics>& chunks, std::size_t i, unsigned bits,
              const AdaptiveRule& rule) {
  const double less = ExpectedError(chunks[i], bits) - ExpectedError(chunks[i], bits + 1);
  const auto more = BytesOf(chunks[i], bits + 1, rule) - BytesOf(chunks[i], bits, rule);
  return {more == 0 ? std::numeric_limits<double>::infinity() : less / static_cast<double>(more), i};
}

// Returns bits that are lowered wherever the budget still holds, beginning with the chunks that save most.
// The last raise of a greedy choice often leaves room for that.
ChunkBits Lowered(const std::vector<ChunkStatistics>& chunks, ChunkBits bits, double budget,
                  const AdaptiveRule& rule) {
  std::vector<std::size_t> order(chunks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return chunks[i].count; });
  const ChunkBits before = bits;
  double error = ErrorOf(chunks, bits);
  for (const std::size_t i : order) {
    while (bits[i] > rule.least_bits) {
      const double more = ExpectedError(chunks[i], bits[i] - 1u) - ExpectedError(chunks[i], bits[i]);
      if (error + more > budget) break;
      error += more;
      --bits[i];
    }
  }
  return IsWithin(chunks, bits, budget) ? bits : before;
}

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

double ExpectedError(const ChunkStatistics& chunk, unsigned bits) {
  const double top = static_cast<double>(TopLevel(bits));
  return chunk.one_bit_error / (top * top);
}

double BudgetOf(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule) {
  return rule.alpha * ErrorOf(chunks, ChunkBits(chunks.size(), static_cast<std::uint8_t>(rule.uniform_bits)));
}

std::uint64_t BytesOf(const std::vector<ChunkStatistics>& chunks, const ChunkBits& bits,
                      const AdaptiveRule& rule) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) bytes += BytesOf(chunks[i], bits[i], rule);
  return bytes;
}

bool IsWithin(const std::vector<ChunkStatistics>& chunks, const ChunkBits& bits, double budget) {
  return ErrorOf(chunks, bits) <= budget * (1 + kRounding);
}

std::optional<ChunkBits> ChooseByKnapsack(const std::vector<ChunkStatistics>& chunks,
                                          const AdaptiveRule& rule) {
  if (!IsValid(chunks, rule)) return std::nullopt;
  constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();
  const double budget = BudgetOf(chunks, rule);
  const std::size_t sizes = rule.parts + 1;
  // best[p] is the fewest bytes of the chunks so far whose errors take at most p parts.
  std::vector<std::uint64_t> best(sizes, 0);
  std::vector<std::uint8_t> chosen(chunks.size() * sizes, 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    std::vector<std::uint64_t> next(sizes, kNever);
    for (unsigned bits = rule.least_bits; bits <= rule.most_bits; ++bits) {
      const std::size_t parts = PartsOf(ExpectedError(chunks[i], bits), budget, rule.parts);
      const std::uint64_t bytes = BytesOf(chunks[i], bits, rule);
      for (std::size_t p = parts; p < sizes; ++p) {
        const std::uint64_t before = best[p - parts];
        if (before == kNever || before + bytes >= next[p]) continue;
        next[p] = before + bytes;
        chosen[i * sizes + p] = static_cast<std::uint8_t>(bits);
      }
    }
    best = std::move(next);
  }
  if (best[rule.parts] == kNever) return std::nullopt;
  ChunkBits result(chunks.size());
  std::size_t left = rule.parts;
  for (std::size_t i = chunks.size(); i-- > 0;) {
    result[i] = chosen[i * sizes + left];
    left -= PartsOf(ExpectedError(chunks[i], result[i]), budget, rule.parts);
  }
  return result;
}

std::optional<ChunkBits> ChooseGreedily(const std::vector<ChunkStatistics>& chunks,
                                        const AdaptiveRule& rule) {
  if (!IsValid(chunks, rule)) return std::nullopt;
  const double budget = BudgetOf(chunks, rule);
  ChunkBits bits(chunks.size(), static_cast<std::uint8_t>(rule.least_bits));
  std::priority_queue<Raise> raises;
  const auto offer = [&](std::size_t i) {
    if (bits[i] < rule.most_bits && chunks[i].one_bit_error > 0)
      raises.push(RaiseOf(chunks, i, bits[i], rule));
  };
  for (std::size_t i = 0; i < chunks.size(); ++i) offer(i);
  for (double error = ErrorOf(chunks, bits);
       error > budget * (1 + kNear) || !IsWithin(chunks, bits, budget);) {
    if (raises.empty()) return std::nullopt;
    const std::size_t i = raises.top().chunk;
    raises.pop();
    error -= ExpectedError(chunks[i], bits[i]);
    ++bits[i];
    error += ExpectedError(chunks[i], bits[i]);
    offer(i);
  }
  return Lowered(chunks, std::move(bits), budget, rule);
}

std::optional<ChunkBits> ChooseBits(const std::vector<ChunkStatistics>& chunks, const AdaptiveRule& rule) {
  auto exact = ChooseByKnapsack(chunks, rule);
  auto greedy = ChooseGreedily(chunks, rule);
  if (!exact || !greedy) return exact ? exact : greedy;
  return BytesOf(chunks, *exact, rule) <= BytesOf(chunks, *greedy, rule) ? exact : greedy;
}

}  // namespace crossover::shrink
