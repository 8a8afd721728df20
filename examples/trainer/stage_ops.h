// Implements the arithmetic of a pipeline's stages, as ops.h does for the other variants. `a` is a block
// unless a struct says something else, and `b` is SlotArgument(): the slot, and which rows.
#pragma once

#include "examples/trainer/ops.h"
#include "examples/trainer/stage_model.h"

namespace crossover::trainer::ops {

TRAINER_HD constexpr std::uint32_t FirstRow(const Call& c) {
  return c.b % 4 == kSecondRows ? HalfBegin(c.s.rows, 1) : 0;
}

TRAINER_HD constexpr std::uint32_t RowCount(const Call& c) {
  return c.b % 4 == kAllRows ? c.s.rows : HalfSize(c.s.rows, c.b % 4 - 1);
}

// Returns a level of `array`, for the slot of the call.
TRAINER_HD inline float* Level(const Call& c, float* array, std::uint32_t level) {
  const std::uint32_t levels = c.s.stage.end - c.s.stage.begin + 1;
  return array + std::uint64_t{c.b / 4 * levels + level} * LevelFloats(c.s.rows);
}

// Returns the image of a row; `microbatch` counts within the iteration.
TRAINER_HD inline std::uint32_t ImageOf(const Call& c, std::uint32_t microbatch, std::uint32_t row) {
  const std::uint64_t batch = c.iteration * c.s.accumulation + microbatch;
  return c.s.order[(batch * c.s.rows + row) % c.s.train_images];
}

// Loads images; a: micro-batch of the iteration.
struct BlockLoad {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return RowCount(c) * kPixels; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const std::uint32_t row = FirstRow(c) + e / kPixels;
    const std::uint32_t pixel = e % kPixels;
    const std::uint32_t image = ImageOf(c, c.a, row);
    Level(c, c.s.stage.activation, 0)[row * kBlockWidth + pixel] =
        static_cast<float>(c.s.images[image * kPixels + pixel]) * (1.0f / 16.0f);
  }
};

// Computes a block. One element is one row.
struct BlockForward {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return RowCount(c); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const Stage& stage = c.s.stage;
    const std::uint32_t level = c.a - stage.begin;
    const std::uint32_t begin = (FirstRow(c) + e) * kBlockWidth;
    const std::uint32_t outputs = BlockOutputs(c.a, stage.blocks);
    const bool last = c.a + 1 == stage.blocks;
    const float* input = Level(c, stage.activation, level) + begin;
    const float* weight = c.s.parameters + BlockOffset(c.a);
    const float* bias = weight + kBlockWidth * outputs;
    float* const output = Level(c, stage.activation, level + 1) + begin;
    float* __restrict sum = last ? output : Level(c, stage.hidden, level) + begin;
    for (std::uint32_t j = 0; j < outputs; ++j) sum[j] = bias[j];
    for (std::uint32_t i = 0; i < kBlockWidth; ++i, weight += outputs) {
      for (std::uint32_t j = 0; j < outputs; ++j) sum[j] += input[i] * weight[j];
    }
    if (last) return;
    for (std::uint32_t j = 0; j < outputs; ++j) {
      if (!(sum[j] > 0)) sum[j] = 0;
      output[j] = input[j] + sum[j];
    }
  }
};

// Computes the loss of a micro-batch and its gradient by the class scores; a: micro-batch of the iteration,
// 0 starts a new sum.
struct BlockLoss {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 1; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t) {
    const std::uint32_t level = c.s.stage.end - c.s.stage.begin;
    const float images = static_cast<float>(c.s.rows * c.s.accumulation);
    float loss = 0;
    for (std::uint32_t row = 0; row < c.s.rows; ++row) {
      const float* score = Level(c, c.s.stage.activation, level) + row * kBlockWidth;
      float* delta = Level(c, c.s.stage.gradient, level) + row * kBlockWidth;
      const std::uint32_t label = c.s.labels[ImageOf(c, c.a, row)];
      float most = score[0];
      for (std::uint32_t k = 1; k < kClasses; ++k) most = score[k] > most ? score[k] : most;
      float sum = 0;
      for (std::uint32_t k = 0; k < kClasses; ++k) sum += delta[k] = expf(score[k] - most);
      for (std::uint32_t k = 0; k < kClasses; ++k)
        delta[k] = (delta[k] / sum - (k == label ? 1.0f : 0.0f)) / images;
      loss += logf(sum) - (score[label] - most);
    }
    *c.s.loss = (c.a == 0 ? 0 : *c.s.loss) + loss / images;
  }
};

// Puts the gradient by what a block adds up for a row into `sums`: 0 where the ReLU cut it. The last block
// has no ReLU.
TRAINER_HD inline void SumGradients(const Call& c, std::uint32_t row, float* __restrict sums) {
  const Stage& stage = c.s.stage;
  const std::uint32_t level = c.a - stage.begin, begin = row * kBlockWidth;
  const float* delta = Level(c, stage.gradient, level + 1) + begin;
  const float* hidden = Level(c, stage.hidden, level) + begin;
  if (c.a + 1 == stage.blocks) {
    for (std::uint32_t j = 0; j < kClasses; ++j) sums[j] = delta[j];
    return;
  }
  for (std::uint32_t j = 0; j < kBlockWidth; ++j) sums[j] = hidden[j] > 0 ? delta[j] : 0.0f;
}

// Computes the gradients of a block's parameters, and that by its input. b has kAddGradients in place of
// rows. The first elements are the weights of one input each, the next one is the bias, and the others are
// rows.
struct BlockBackward {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return kBlockWidth + 1 + c.s.rows; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    if (e <= kBlockWidth) {
      Parameters(c, e);
    } else {
      Row(c, e - kBlockWidth - 1);
    }
  }

 private:
  TRAINER_HD static void Parameters(const Call& c, std::uint32_t e) {
    const Stage& stage = c.s.stage;
    const std::uint32_t outputs = BlockOutputs(c.a, stage.blocks);
    const float* input = Level(c, stage.activation, c.a - stage.begin);
    float* __restrict gradient = c.s.gradients + BlockOffset(c.a) + e * outputs;
    if (c.b % 4 != kAddGradients) {
      for (std::uint32_t j = 0; j < outputs; ++j) gradient[j] = 0;
    }
    for (std::uint32_t row = 0; row < c.s.rows; ++row) {
      float sums[kBlockWidth];
      SumGradients(c, row, sums);
      const float value = e < kBlockWidth ? input[row * kBlockWidth + e] : 1.0f;
      for (std::uint32_t j = 0; j < outputs; ++j) gradient[j] += value * sums[j];
    }
  }

  // Adds in kLanes sums, which a compiler may compute at once.
  TRAINER_HD static void Row(const Call& c, std::uint32_t row) {
    constexpr std::uint32_t kLanes = 8;
    const Stage& stage = c.s.stage;
    const std::uint32_t level = c.a - stage.begin, outputs = BlockOutputs(c.a, stage.blocks);
    const bool last = c.a + 1 == stage.blocks;
    const float* delta = Level(c, stage.gradient, level + 1) + row * kBlockWidth;
    const float* weight = c.s.parameters + BlockOffset(c.a);
    float* __restrict by_input = Level(c, stage.gradient, level) + row * kBlockWidth;
    float sums[kBlockWidth];
    SumGradients(c, row, sums);
    for (std::uint32_t i = 0; i < kBlockWidth; ++i, weight += outputs) {
      float lanes[kLanes] = {};
      std::uint32_t j = 0;
      for (; j + kLanes <= outputs; j += kLanes) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] += weight[j + lane] * sums[j + lane];
      }
      for (; j < outputs; ++j) lanes[0] += weight[j] * sums[j];
      float sum = last ? 0 : delta[i];
      for (const float lane : lanes) sum += lane;
      by_input[i] = sum;
    }
  }
};

// Takes the loss of the iteration from the gradients that the next stage has sent, and puts it behind those
// that go to the stage before.
struct BlockPassLoss {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 1; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t) {
    const Stage& stage = c.s.stage;
    const std::uint32_t behind = LevelFloats(c.s.rows) - 1;
    if (stage.end < stage.blocks) *c.s.loss = Level(c, stage.gradient, stage.end - stage.begin)[behind];
    Level(c, stage.gradient, 0)[behind] = *c.s.loss;
  }
};

}  // namespace crossover::trainer::ops
