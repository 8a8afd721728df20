#include "examples/trainer/buckets.h"

#include <algorithm>
#include <cmath>

namespace crossover::trainer {
namespace {

std::uint32_t EarlyBucketSize(std::uint32_t total, double early_share) {
  return std::max(1u, static_cast<std::uint32_t>(std::floor(total * early_share / kEarlyBuckets)));
}

std::uint32_t LayerSize(std::uint32_t layer) { return LayerOffset(layer + 1) - LayerOffset(layer); }

// Returns how many parameters have gradients that travel early if each early bucket takes at most `size` of
// its layer.
std::uint32_t TakenEarly(std::uint32_t size) {
  std::uint32_t taken = 0;
  for (std::uint32_t b = 0; b < kEarlyBuckets; ++b) taken += std::min(size, LayerSize(ReadyAfterLayer(b)));
  return taken;
}

}  // namespace

BucketPlan PlanBuckets(std::uint64_t bytes, double early_share) {
  std::uint32_t total = std::max(static_cast<std::uint32_t>((bytes + 3) / 4), kParameters);
  // The last bucket must hold what is left, so grow the total until it does. A large early share may need
  // padding.
  std::uint32_t early = EarlyBucketSize(total, early_share);
  while (total - early * kEarlyBuckets < kParameters - TakenEarly(early)) {
    ++total;
    early = EarlyBucketSize(total, early_share);
  }
  BucketPlan plan;
  plan.begin.push_back(0);
  std::uint32_t next_padding = kParameters;
  std::vector<std::uint32_t> left;
  for (std::uint32_t b = 0; b < kEarlyBuckets; ++b) {
    const std::uint32_t layer = ReadyAfterLayer(b);
    for (std::uint32_t i = 0; i < LayerSize(layer); ++i) {
      (i < early ? plan.source : left).push_back(LayerOffset(layer) + i);
    }
    while (plan.source.size() < early * (b + 1)) plan.source.push_back(next_padding++);
    plan.begin.push_back(static_cast<std::uint32_t>(plan.source.size()));
  }
  plan.source.insert(plan.source.end(), left.begin(), left.end());
  for (std::uint32_t i = 0; i < LayerSize(0); ++i) plan.source.push_back(LayerOffset(0) + i);
  while (plan.source.size() < total) plan.source.push_back(next_padding++);
  plan.begin.push_back(static_cast<std::uint32_t>(plan.source.size()));
  return plan;
}

}  // namespace crossover::trainer
