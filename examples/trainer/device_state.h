// Keeps the trainer's data in device memory.
#pragma once

#include <vector>

#include "examples/trainer/buckets.h"
#include "examples/trainer/dataset.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

// A DeviceState holds the pointers to the data on the GPU.
struct DeviceState {
  State training{};  // host copies of the states on the device; only their pointers are valid
  State evaluation{};
  State* training_on_device = nullptr;
  const State* evaluation_on_device = nullptr;
  float* scratch = nullptr;  // one float, for barriers
};

// Each evaluation batch of a rank has this many images.
inline constexpr std::uint32_t kEvaluationRows = 32;

constexpr std::uint32_t EvaluationBatches(std::uint32_t held_out, std::uint32_t world) {
  return (held_out + world * kEvaluationRows - 1) / (world * kEvaluationRows);
}

// Allocates and fills the device memory. `evaluations` is the number of evaluations that will be recorded.
// The parameters are zero, except on rank 0, which has the initial ones.
DeviceState MakeDeviceState(Gpu& gpu, const Options& options, const Rank& rank, const Dataset& dataset,
                            const ImageOrder& order, const BucketPlan& plan, std::uint64_t evaluations);

}  // namespace crossover::trainer
