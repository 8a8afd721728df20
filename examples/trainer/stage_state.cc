#include "examples/trainer/stage_state.h"

#include "examples/trainer/stage_parameters.h"

namespace crossover::trainer {
namespace {

float* Zeroed(Gpu& gpu, std::size_t floats) {
  return static_cast<float*>(gpu.Allocate(floats * sizeof(float)));
}

template <typename T>
T* Copied(Gpu& gpu, const std::vector<T>& values) {
  T* const memory = static_cast<T*>(gpu.Allocate(values.size() * sizeof(T)));
  gpu.Upload(memory, values.data(), values.size() * sizeof(T));
  return memory;
}

}  // namespace

StageState MakeStageState(Gpu& gpu, const Options& options, const Rank& rank, const Stages& stages,
                          std::uint32_t slots, const Dataset& dataset, const ImageOrder& order) {
  StageState result;
  State& state = result.state;
  state.world = 1;  // all ranks together train as one
  state.rows = options.batch;
  state.accumulation = stages.microbatches;
  state.loss_ranks = 1;
  state.learning_rate = static_cast<float>(options.learning_rate);
  state.momentum = static_cast<float>(options.momentum);
  state.train_images = order.train;
  state.held_out_images = order.held_out;
  state.images = Copied(gpu, dataset.images);
  state.labels = Copied(gpu, dataset.labels);
  state.order = Copied(gpu, order.order);
  state.total = BlocksEnd(stages.blocks(), stages.blocks());
  state.parameters =
      rank.rank == 0 ? Copied(gpu, InitialBlocks(options.seed, stages.blocks())) : Zeroed(gpu, state.total);
  state.velocity = Zeroed(gpu, state.total);
  state.gradients = Zeroed(gpu, state.total);
  state.average = state.gradients;  // Update reads it: the gradients are already those of the iteration
  const std::uint32_t begin = stages.borders[rank.rank], end = stages.borders[rank.rank + 1];
  const std::size_t floats = std::size_t{slots} * (end - begin + 1) * LevelFloats(state.rows);
  state.stage = {begin, end, stages.blocks(), Zeroed(gpu, floats), Zeroed(gpu, floats), Zeroed(gpu, floats)};
  state.loss = Zeroed(gpu, 1);
  state.losses = Zeroed(gpu, options.iterations);
  result.on_device = Copied(gpu, std::vector<State>{state});
  return result;
}

}  // namespace crossover::trainer
