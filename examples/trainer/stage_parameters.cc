#include "examples/trainer/stage_parameters.h"

#include <cmath>

#include "examples/trainer/random.h"
#include "examples/trainer/stage_ops.h"

namespace crossover::trainer {

std::vector<float> InitialBlocks(std::uint64_t seed, std::uint32_t blocks) {
  std::vector<float> parameters(BlocksEnd(blocks, blocks));
  Random random(seed ^ 0x5eedu);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    // The outputs of a ReLU are never negative, so they add up with the number of blocks, not with its root.
    const double deviation = std::sqrt(2.0 / kBlockWidth) / (block + 1 < blocks ? blocks : 2);
    const std::uint32_t weights = kBlockWidth * BlockOutputs(block, blocks);
    for (std::uint32_t i = 0; i < weights; ++i)
      parameters[BlockOffset(block) + i] = static_cast<float>(deviation * random.Normal());
  }
  return parameters;
}

double AccuracyOfBlocks(const std::vector<float>& parameters, std::uint32_t blocks, const Dataset& dataset,
                        const ImageOrder& order) {
  State state{};
  state.rows = order.held_out;
  state.accumulation = 1;
  state.train_images = order.held_out;  // the forward pass takes the held-out images for those to train with
  state.images = dataset.images.data();
  state.labels = dataset.labels.data();
  state.order = order.order.data() + order.train;
  state.parameters = const_cast<float*>(parameters.data());  // the forward pass only reads them
  state.stage = {0, blocks, blocks, nullptr, nullptr, nullptr};
  std::vector<float> activation(std::size_t{blocks + 1} * LevelFloats(state.rows)), hidden(activation.size());
  state.stage.activation = activation.data();
  state.stage.hidden = hidden.data();
  const auto run = [&]<typename Op>(Op, std::uint32_t a) {
    const ops::Call call{state, 0, a, SlotArgument(0, kAllRows)};
    for (std::uint32_t e = 0; e < Op::Count(call); ++e) Op::Apply(call, e);
  };
  run(ops::BlockLoad{}, 0);
  for (std::uint32_t block = 0; block < blocks; ++block) run(ops::BlockForward{}, block);
  std::uint32_t correct = 0;
  for (std::uint32_t row = 0; row < state.rows; ++row) {
    const float* score =
        activation.data() + std::size_t{blocks} * LevelFloats(state.rows) + row * kBlockWidth;
    std::uint32_t best = 0;
    for (std::uint32_t k = 1; k < kClasses; ++k) best = score[k] > score[best] ? k : best;
    correct += best == dataset.labels[state.order[row]];
  }
  return static_cast<double>(correct) / state.rows;
}

}  // namespace crossover::trainer
