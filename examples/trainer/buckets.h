// Decides which gradient travels in which all-reduce.
//
// As in PyTorch's DistributedDataParallel, gradients are reduced in buckets while backward still runs.
// Early bucket i is reduced as soon as the gradients of layer kLayers - 1 - i are ready, and the last
// bucket at the end of backward. Early buckets carry a chosen share of the bytes. Padding fills up to the
// requested total.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/trainer/model.h"

namespace crossover::trainer {

inline constexpr std::uint32_t kBuckets = kLayers;
inline constexpr std::uint32_t kEarlyBuckets = kBuckets - 1;

// Returns the layer whose backward pass makes a bucket ready.
constexpr std::uint32_t ReadyAfterLayer(std::uint32_t bucket) { return kLayers - 1 - bucket; }

// A BucketPlan says which gradients each bucket carries.
struct BucketPlan {
  std::vector<std::uint32_t> begin;   // kBuckets + 1: bucket b is the elements [begin[b], begin[b + 1])
  std::vector<std::uint32_t> source;  // for each element a parameter, or padding from kParameters on
  std::uint32_t total() const { return begin.back(); }
  std::uint32_t size(std::uint32_t bucket) const { return begin[bucket + 1] - begin[bucket]; }
};

// Plans buckets of `bytes` bytes in all, raised to what the model needs. The early buckets get
// `early_share` of these bytes, a number in [0, 0.9].
BucketPlan PlanBuckets(std::uint64_t bytes, double early_share);

}  // namespace crossover::trainer
