#include "examples/reductions/topk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "shrink/codec/draw.h"

namespace crossover::reductions {
namespace {

struct Entry {
  std::uint32_t index;
  float value;
};

std::size_t CountFrom(std::span<const float> values, float threshold) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [threshold](float value) { return std::abs(value) >= threshold; }));
}

// Takes all that reach t1, and `wanted` of those between the thresholds, from the `start`-th of them on.
std::vector<std::uint32_t> Take(std::span<const float> values, float t1, float t2, std::size_t start,
                                std::size_t wanted) {
  std::vector<std::uint32_t> taken;
  std::size_t between = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float magnitude = std::abs(values[i]);
    bool takes = magnitude >= t1;
    if (!takes && magnitude >= t2) {
      takes = between >= start && between < start + wanted;
      ++between;
    }
    if (takes) taken.push_back(static_cast<std::uint32_t>(i));
  }
  return taken;
}

Bytes BytesOf(const std::vector<Entry>& entries) {
  Bytes bytes(entries.size() * sizeof(Entry));
  if (!bytes.empty()) std::memcpy(bytes.data(), entries.data(), bytes.size());
  return bytes;
}

void AddTo(std::span<float> sum, const Bytes& bytes) {
  for (std::size_t at = 0; at + sizeof(Entry) <= bytes.size(); at += sizeof(Entry)) {
    Entry entry;
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    if (entry.index < sum.size()) sum[entry.index] += entry.value;
  }
}

}  // namespace

Selection SelectTopK(std::span<const float> values, std::size_t k, unsigned bisections,
                     std::uint64_t random) {
  Selection selection;
  if (k == 0) return selection;
  float lo = std::abs(values[0]), hi = lo;
  for (const float value : values) {
    lo = std::min(lo, std::abs(value));
    hi = std::max(hi, std::abs(value));
  }
  std::size_t above = 0, reached = values.size();  // that reach t1, and t2
  selection.t1 = std::numeric_limits<float>::infinity();
  selection.t2 = lo;
  float low = 0, high = 1;
  for (unsigned step = 0; step < bisections && above != k; ++step) {
    const float middle = (low + high) / 2;
    const float threshold = lo + middle * (hi - lo);
    const std::size_t count = CountFrom(values, threshold);
    if (count <= k) {
      high = middle;
      if (count >= above) std::tie(above, selection.t1) = std::pair(count, threshold);
    } else {
      low = middle;
      std::tie(reached, selection.t2) = std::pair(count, threshold);
    }
  }
  selection.exact = above;
  // There are reached - above values between the thresholds, so the last run of k - above begins at reached -
  // k.
  selection.indices = Take(values, selection.t1, selection.t2, random % (reached - k + 1), k - above);
  return selection;
}

std::size_t CountOf(std::size_t count, double density) {
  const auto wanted = static_cast<std::size_t>(std::ceil(density * static_cast<double>(count)));
  return std::min(count, std::max<std::size_t>(wanted, 1));
}

void TopK::Reduce(const Groups& groups, std::span<float> values, std::uint64_t call) {
  ReduceThroughNodes(groups, values, 1,
                     [&](std::span<float> shard, std::size_t) { ReduceShard(groups, shard, call); });
}

void TopK::ReduceShard(const Groups& groups, std::span<float> shard, std::uint64_t call) {
  residual_.resize(shard.size());
  const std::size_t k = CountOf(shard.size(), density_);
  std::vector<Entry> taken;
  if (!std::ranges::all_of(shard, [](float value) { return std::isfinite(value); })) {
    for (std::uint32_t i = 0; i < k; ++i) taken.push_back({i, std::numeric_limits<float>::quiet_NaN()});
  } else {
    for (std::size_t i = 0; i < shard.size(); ++i) residual_[i] += shard[i];
    const std::uint64_t random = shrink::KeyOf({seed_, call, groups.seat.rank});
    for (const std::uint32_t index : SelectTopK(residual_, k, kBisections, random).indices)
      taken.push_back({index, std::exchange(residual_[index], 0.0f)});
    if (!keeps_residual_) std::ranges::fill(residual_, 0.0f);
  }
  Peers& across = *groups.across;
  const Bytes mine = BytesOf(taken);
  std::vector<Bytes> sent(across.size(), mine);
  std::vector<std::size_t> expected(across.size(), mine.size());
  sent[across.place()].clear();
  expected[across.place()] = 0;
  std::vector<Bytes> received = across.Exchange(sent, expected);
  received[across.place()] = mine;
  std::ranges::fill(shard, 0.0f);
  for (const Bytes& bytes : received) AddTo(shard, bytes);  // in the order of nodes: all get the same bits
}

}  // namespace crossover::reductions
