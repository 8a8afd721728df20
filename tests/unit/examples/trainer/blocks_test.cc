// Compares the gradients of a pipeline's blocks with differences of its loss, and halves with the whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "examples/trainer/dataset.h"
#include "examples/trainer/stage_ops.h"
#include "examples/trainer/stage_parameters.h"

namespace crossover::trainer {
namespace {

constexpr std::uint32_t kBlocks = 3, kRows = 5;

const Dataset& Digits() {
  static const Dataset dataset = std::get<Dataset>(LoadDataset(TRAINER_DATA));
  return dataset;
}

// A Model is one stage with all blocks and one slot, in host memory.
class Model {
 public:
  Model() : order(OrderImages(Digits().size(), 1)), parameters(InitialBlocks(1, kBlocks)) {
    state.rows = kRows;
    state.accumulation = 1;
    state.train_images = order.train;
    state.images = Digits().images.data();
    state.labels = Digits().labels.data();
    state.order = order.order.data();
    state.parameters = parameters.data();
    gradients.resize(parameters.size());
    state.gradients = gradients.data();
    for (std::vector<float>* array : {&activation, &hidden, &gradient})
      array->resize(std::size_t{kBlocks + 1} * LevelFloats(kRows));
    state.stage = {0, kBlocks, kBlocks, activation.data(), hidden.data(), gradient.data()};
    state.loss = &loss;
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void Forward(std::uint32_t rows) {
    Run<ops::BlockLoad>(0, SlotArgument(0, rows));
    for (std::uint32_t block = 0; block < kBlocks; ++block)
      Run<ops::BlockForward>(block, SlotArgument(0, rows));
  }
  float Loss() {
    Forward(kAllRows);
    Run<ops::BlockLoss>(0, 0);
    return loss;
  }
  void Backward(std::uint32_t add) {
    Loss();
    for (std::uint32_t block = kBlocks; block-- > 0;) Run<ops::BlockBackward>(block, SlotArgument(0, add));
  }

  ImageOrder order;
  std::vector<float> parameters, gradients, activation, hidden, gradient;
  float loss = 0;
  State state{};

 private:
  template <typename Op>
  void Run(std::uint32_t a, std::uint32_t b) {
    const ops::Call call{state, 0, a, b};
    for (std::uint32_t e = 0; e < Op::Count(call); ++e) Op::Apply(call, e);
  }
};

TEST(BlocksTest, GradientsAreTheDerivativesOfTheLoss) {
  Model model;
  model.Backward(0);
  const std::vector<float> gradients = model.gradients;
  std::size_t checked = 0;
  for (std::size_t i = 0; i < gradients.size(); i += 97) {
    const float before = model.parameters[i], step = 5e-4f;
    model.parameters[i] = before + step;
    const float above = model.Loss();
    model.parameters[i] = before - step;
    const float below = model.Loss();
    model.parameters[i] = before;
    EXPECT_NEAR(gradients[i], (above - below) / (2 * step), 2e-3) << "parameter " << i;
    checked += std::abs(gradients[i]) > 1e-3f;
  }
  EXPECT_GT(checked, 20u);
}

TEST(BlocksTest, GradientsOfFurtherMicrobatchesAreAdded) {
  Model model;
  model.Backward(0);
  const std::vector<float> once = model.gradients;
  model.Backward(kAddGradients);
  for (std::size_t i = 0; i < once.size(); i += 13) EXPECT_NEAR(model.gradients[i], 2 * once[i], 1e-5);
}

TEST(BlocksTest, TwoHalvesAreTheWholeToTheBit) {
  Model whole, halved;
  whole.Forward(kAllRows);
  halved.Forward(kFirstRows);
  EXPECT_NE(whole.activation, halved.activation);
  halved.Forward(kSecondRows);
  EXPECT_EQ(whole.activation, halved.activation);
  EXPECT_EQ(whole.hidden, halved.hidden);
}

}  // namespace
}  // namespace crossover::trainer
