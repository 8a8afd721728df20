#include "examples/trainer/stage_state.h"

#include "examples/trainer/device_memory.h"
#include "examples/trainer/stage_parameters.h"

namespace crossover::trainer {
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
  state.parameters = rank.rank == 0 ? Copied(gpu, InitialBlocks(options.seed, stages.blocks()))
                                    : Zeroed<float>(gpu, state.total);
  state.velocity = Zeroed<float>(gpu, state.total);
  state.gradients = Zeroed<float>(gpu, state.total);
  state.average = state.gradients;  // Update reads it: the gradients are already those of the iteration
  const std::uint32_t begin = stages.borders[rank.rank], end = stages.borders[rank.rank + 1];
  const std::size_t floats = std::size_t{slots} * (end - begin + 1) * LevelFloats(state.rows);
  state.stage = {begin,
                 end,
                 stages.blocks(),
                 Zeroed<float>(gpu, floats),
                 Zeroed<float>(gpu, floats),
                 Zeroed<float>(gpu, floats)};
  state.loss = Zeroed<float>(gpu, 1);
  state.losses = Zeroed<float>(gpu, options.iterations);
  result.on_device = Copied(gpu, std::vector<State>{state});
  return result;
}

}  // namespace crossover::trainer
