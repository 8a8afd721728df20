#include "examples/trainer/parameters.h"

#include <cmath>

#include "examples/trainer/ops.h"
#include "examples/trainer/random.h"

namespace crossover::trainer {
namespace {

template <typename Op>
void RunAll(const ops::Call& call) {
  for (std::uint32_t e = 0; e < Op::Count(call); ++e) Op::Apply(call, e);
}

}  // namespace

std::vector<float> InitialParameters(std::uint64_t seed) {
  std::vector<float> parameters(kParameters);
  Random random(seed ^ 0x5eedu);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    const double deviation = std::sqrt(2.0 / Width(layer));
    for (std::uint32_t i = 0; i < WeightCount(layer); ++i) {
      parameters[LayerOffset(layer) + i] = static_cast<float>(deviation * random.Normal());
    }
  }
  return parameters;
}

double Accuracy(const std::vector<float>& parameters, const std::vector<float>& mean, const Dataset& dataset,
                const ImageOrder& order) {
  State state{};
  state.world = 1;
  state.accumulation = 1;
  ShareEqually(state, order.held_out);
  state.evaluation = 1;
  state.train_images = order.train;
  state.held_out_images = order.held_out;
  state.images = dataset.images.data();
  state.labels = dataset.labels.data();
  state.order = order.order.data();
  state.parameters = const_cast<float*>(parameters.data());  // the forward pass only reads them
  state.mean = const_cast<float*>(mean.data());
  std::vector<std::vector<float>> activations;
  for (std::uint32_t level = 0; level <= kLayers; ++level) {
    activations.emplace_back(std::size_t{state.rows} * Width(level));
    state.activation[level] = activations.back().data();
  }
  std::vector<float> probabilities(std::size_t{state.rows} * kClasses);
  std::vector<float> row_loss(state.rows), row_correct(state.rows), metric(3);
  std::vector<std::uint8_t> labels(state.rows);
  state.delta[kLayers] = probabilities.data();
  state.row_label = labels.data();
  state.row_loss = row_loss.data();
  state.row_correct = row_correct.data();
  state.metric = metric.data();

  RunAll<ops::LoadBatch>({state, 0, 0, 0});
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    for (std::uint32_t half = 0; half < 2; ++half) RunAll<ops::Linear>({state, 0, layer, half});
    if (layer + 1 < kLayers) RunAll<ops::Relu>({state, 0, layer + 1, 0});
  }
  RunAll<ops::Softmax>({state, 0, 0, 0});
  RunAll<ops::SumLoss>({state, 0, 0, 0});
  return static_cast<double>(metric[1]) / static_cast<double>(metric[2]);
}

std::uint64_t Digest(const void* bytes, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<const std::uint8_t*>(bytes)[i]) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace crossover::trainer
