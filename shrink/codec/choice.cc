#include "shrink/codec/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shrink/codec/q8.h"

namespace crossover::shrink {
namespace {

constexpr double kRounding = 1e-12;  // of sums of errors, as a part of them
constexpr double kNear = 1e-6;       // within this of the budget a running sum is not exact enough to decide
constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();

bool IsValid(Chunks chunks, const AdaptiveRule& rule) {
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

double ErrorOf(Chunks chunks, Bits bits) {
  double error = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) error += ExpectedError(chunks[i], bits[i]);
  return error;
}

// Returns how many parts of the budget an error takes, rounded up, or `parts` + 1 for more than all of them.
// It rounds without ceil(), which is a function of libm on some machines.
std::size_t PartsOf(double error, double budget, std::size_t parts) {
  if (error == 0) return 0;
  if (!(error <= budget)) return parts + 1;
  const double exact = error / budget * static_cast<double>(parts);
  const auto below = static_cast<std::size_t>(exact);
  return below + (static_cast<double>(below) < exact ? 1 : 0);
}

// Returns whether `one` is to be raised behind `other`: the order of a heap.
bool IsBehind(const Raise& one, const Raise& other) {
  return one.gain != other.gain ? one.gain < other.gain : one.chunk > other.chunk;
}

Raise RaiseOf(Chunks chunks, std::size_t i, unsigned bits, const AdaptiveRule& rule) {
  const double less = ExpectedError(chunks[i], bits) - ExpectedError(chunks[i], bits + 1);
  const auto more = BytesOf(chunks[i], bits + 1, rule) - BytesOf(chunks[i], bits, rule);
  return {more == 0 ? std::numeric_limits<double>::infinity() : less / static_cast<double>(more), i};
}

// Raises is a heap of what each chunk could get, in the caller's memory.
class Raises {
 public:
  Raises(std::span<Raise> memory, Chunks chunks, const AdaptiveRule& rule)
      : memory_(memory), chunks_(chunks), rule_(rule) {}
  bool IsEmpty() const { return size_ == 0; }
  // Adds the next raise of a chunk that has so many bits, if there is one that helps.
  void Offer(std::size_t i, unsigned bits) {
    if (bits >= rule_.most_bits || chunks_[i].one_bit_error <= 0) return;
    memory_[size_++] = RaiseOf(chunks_, i, bits, rule_);
    std::push_heap(memory_.begin(), End(), IsBehind);
  }
  // Returns the chunk of the best raise, and takes the raise out.
  std::size_t Take() {
    std::pop_heap(memory_.begin(), End(), IsBehind);
    return memory_[--size_].chunk;
  }

 private:
  std::span<Raise>::iterator End() const { return memory_.begin() + static_cast<std::ptrdiff_t>(size_); }

  const std::span<Raise> memory_;
  const Chunks chunks_;
  const AdaptiveRule& rule_;
  std::size_t size_ = 0;
};

// Lowers bits wherever the budget still holds, beginning with the chunks that save most. The last raise of a
// greedy choice often leaves room for that.
void Lower(Chunks chunks, double budget, const AdaptiveRule& rule, const ChoiceRoom& room,
           std::span<std::uint8_t> bits) {
  const auto order = room.order.first(chunks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return chunks[a].count != chunks[b].count ? chunks[a].count > chunks[b].count : a < b;
  });
  std::ranges::copy(bits, room.before.begin());
  double error = ErrorOf(chunks, bits);
  for (const std::size_t i : order) {
    while (bits[i] > rule.least_bits) {
      const double more = ExpectedError(chunks[i], bits[i] - 1u) - ExpectedError(chunks[i], bits[i]);
      if (error + more > budget) break;
      error += more;
      --bits[i];
    }
  }
  if (!IsWithin(chunks, bits, budget)) std::ranges::copy(room.before.first(bits.size()), bits.begin());
}

// Adds a chunk to the table of the knapsack: next[p] is the fewest bytes of the chunks so far, with this one,
// whose errors take at most p parts, and chosen[p] its bits in them.
void AddToKnapsack(const ChunkStatistics& chunk, const AdaptiveRule& rule, double budget,
                   std::span<const std::uint64_t> best, std::span<std::uint64_t> next,
                   std::span<std::uint8_t> chosen) {
  std::ranges::fill(next, kNever);
  for (unsigned bits = rule.least_bits; bits <= rule.most_bits; ++bits) {
    const std::size_t parts = PartsOf(ExpectedError(chunk, bits), budget, rule.parts);
    const std::uint64_t bytes = BytesOf(chunk, bits, rule);
    for (std::size_t p = parts; p < next.size(); ++p) {
      const std::uint64_t before = best[p - parts];
      if (before == kNever || before + bytes >= next[p]) continue;
      next[p] = before + bytes;
      chosen[p] = static_cast<std::uint8_t>(bits);
    }
  }
}

}  // namespace

double ExpectedError(const ChunkStatistics& chunk, unsigned bits) {
  const double top = static_cast<double>(TopLevel(bits));
  return chunk.one_bit_error / (top * top);
}

double BudgetOf(Chunks chunks, const AdaptiveRule& rule) {
  double error = 0;
  for (const ChunkStatistics& chunk : chunks) error += ExpectedError(chunk, rule.uniform_bits);
  return rule.alpha * error;
}

std::uint64_t BytesOf(Chunks chunks, Bits bits, const AdaptiveRule& rule) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) bytes += BytesOf(chunks[i], bits[i], rule);
  return bytes;
}

bool IsWithin(Chunks chunks, Bits bits, double budget) {
  return ErrorOf(chunks, bits) <= budget * (1 + kRounding);
}

bool ChooseByKnapsack(Chunks chunks, const AdaptiveRule& rule, const ChoiceRoom& room,
                      std::span<std::uint8_t> bits) {
  if (!IsValid(chunks, rule)) return false;
  const double budget = BudgetOf(chunks, rule);
  const std::size_t sizes = rule.parts + 1;
  auto best = room.best.first(sizes), next = room.next.first(sizes);
  std::ranges::fill(best, 0);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    AddToKnapsack(chunks[i], rule, budget, best, next, room.chosen.subspan(i * sizes, sizes));
    std::swap(best, next);
  }
  if (best[rule.parts] == kNever) return false;
  std::size_t left = rule.parts;
  for (std::size_t i = chunks.size(); i-- > 0;) {
    bits[i] = room.chosen[i * sizes + left];
    left -= PartsOf(ExpectedError(chunks[i], bits[i]), budget, rule.parts);
  }
  return true;
}

bool ChooseGreedily(Chunks chunks, const AdaptiveRule& rule, const ChoiceRoom& room,
                    std::span<std::uint8_t> bits) {
  if (!IsValid(chunks, rule)) return false;
  const double budget = BudgetOf(chunks, rule);
  std::ranges::fill(bits, static_cast<std::uint8_t>(rule.least_bits));
  Raises raises(room.raises, chunks, rule);
  for (std::size_t i = 0; i < chunks.size(); ++i) raises.Offer(i, bits[i]);
  for (double error = ErrorOf(chunks, bits);
       error > budget * (1 + kNear) || !IsWithin(chunks, bits, budget);) {
    if (raises.IsEmpty()) return false;
    const std::size_t i = raises.Take();
    error -= ExpectedError(chunks[i], bits[i]);
    ++bits[i];
    error += ExpectedError(chunks[i], bits[i]);
    raises.Offer(i, bits[i]);
  }
  Lower(chunks, budget, rule, room, bits);
  return true;
}

bool ChooseBits(Chunks chunks, const AdaptiveRule& rule, const ChoiceRoom& room,
                std::span<std::uint8_t> other, std::span<std::uint8_t> bits) {
  const bool exact = ChooseByKnapsack(chunks, rule, room, bits);
  const bool greedy = ChooseGreedily(chunks, rule, room, other);
  if (greedy && (!exact || BytesOf(chunks, other, rule) < BytesOf(chunks, bits, rule)))
    std::ranges::copy(other, bits.begin());
  return exact || greedy;
}

}  // namespace crossover::shrink
