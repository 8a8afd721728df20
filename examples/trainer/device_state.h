// The trainer's data in device memory.
#pragma once

#include <vector>

#include "examples/trainer/buckets.h"
#include "examples/trainer/dataset.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

struct DeviceState {
  State training{};  // the host's copies of what the device has: good for its pointers
  State evaluation{};
  const State* training_on_device = nullptr;
  const State* evaluation_on_device = nullptr;
  float* scratch = nullptr;  // one float, for barriers
  float* shard = nullptr;    // kShard floats of zeros, what a rank has of a layer
  float* layer = nullptr;    // kShard floats from each rank
};

inline constexpr std::size_t kShard = 256;

// Images of one evaluation batch of a rank.
inline constexpr std::uint32_t kEvaluationRows = 32;

constexpr std::uint32_t EvaluationBatches(std::uint32_t held_out, std::uint32_t world) {
  return (held_out + world * kEvaluationRows - 1) / (world * kEvaluationRows);
}

// `evaluations`: how many will be recorded. Parameters are zero, except on rank 0, which has the initial
// ones.
DeviceState MakeDeviceState(Gpu& gpu, const Options& options, const Rank& rank, const Dataset& dataset,
                            const ImageOrder& order, const BucketPlan& plan, std::uint64_t evaluations);

}  // namespace crossover::trainer
