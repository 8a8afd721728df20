// Keeps the data of one stage of a pipeline in device memory.
#pragma once

#include <cstdint>

#include "examples/trainer/dataset.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/options.h"
#include "examples/trainer/stages.h"

namespace crossover::trainer {

// A StageState holds the pointers to the data on the GPU.
struct StageState {
  State state{};  // a host copy; only its pointers are valid
  const State* on_device = nullptr;

  // Each of these functions returns a message of a slot: what the stage gets or passes on.
  float* input(std::uint32_t slot) const { return Level(state.stage.activation, slot, 0); }
  float* output(std::uint32_t slot) const { return Level(state.stage.activation, slot, blocks()); }
  float* output_gradient(std::uint32_t slot) const { return Level(state.stage.gradient, slot, blocks()); }
  float* input_gradient(std::uint32_t slot) const { return Level(state.stage.gradient, slot, 0); }

 private:
  std::uint32_t blocks() const { return state.stage.end - state.stage.begin; }
  float* Level(float* array, std::uint32_t slot, std::uint32_t level) const {
    return array + (std::size_t{slot} * (blocks() + 1) + level) * LevelFloats(state.rows);
  }
};

// Allocates and fills the device memory of a rank with so many slots. Each rank has room for the parameters
// of all blocks; they are zero, except on rank 0, which has the initial ones.
StageState MakeStageState(Gpu& gpu, const Options& options, const Rank& rank, const Stages& stages,
                          std::uint32_t slots, const Dataset& dataset, const ImageOrder& order);

}  // namespace crossover::trainer
