// Implements the arithmetic of the trainer, one struct for each kernel. Count() returns how many elements
// there are, which do not depend on each other. Apply() computes one of them. The software GPU runs them in
// a loop on the host (kernels_host.cc); a real GPU spreads them over its threads (kernels.cu). Sums run in
// a fixed order, so results are reproducible to the bit on the same device.
//
// The arguments of every kernel are its duration in ns, the state, `iteration`, and `a` and `b`, which each
// struct explains.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/trainer/model.h"

// Lists X(name, SMs). The launches of a kernel fill this many SMs unless --kernel-sms says another number.
// A kernel with 1 always fills 1.
#define TRAINER_KERNELS(X)    \
  X(Marker, 1)                \
  X(LoadBatch, 132)           \
  X(UpdateMean, 132)          \
  X(Linear, 132)              \
  X(Relu, 132)                \
  X(Softmax, 132)             \
  X(SumLoss, 132)             \
  X(LossGradient, 132)        \
  X(WeightGradient, 132)      \
  X(BiasGradient, 132)        \
  X(InputGradient, 132)       \
  X(ReluGradient, 132)        \
  X(Pack, 132)                \
  X(Unpack, 132)              \
  X(Update, 132)              \
  X(RecordLoss, 132)          \
  X(RecordMetric, 132)        \
  X(Unshard, 132)             \
  X(Discard, 132)             \
  X(PackUnit, 132)            \
  X(UpdateShard, 132)         \
  X(LinearPart, 132)          \
  X(WeightGradientPart, 132)  \
  X(InputGradientPart, 132)   \
  X(TakePart, 132)            \
  X(KeepPart, 132)            \
  X(Route, 132)               \
  X(Dispatch, 132)            \
  X(Collect, 132)             \
  X(ExpertForward, 132)       \
  X(ExpertGradient, 132)      \
  X(ExpertInputGradient, 132) \
  X(UpdateExpert, 132)        \
  X(BlockLoad, 132)           \
  X(BlockForward, 132)        \
  X(BlockLoss, 132)           \
  X(BlockBackward, 132)       \
  X(BlockPassLoss, 132)

namespace crossover::trainer::ops {

struct Call {
  const State& s;
  std::uint64_t iteration;
  std::uint32_t a;
  std::uint32_t b;
};

// Splits `n` things into two halves: half `half` is [HalfBegin(n, half), HalfBegin(n, half + 1)).
TRAINER_HD constexpr std::uint32_t HalfBegin(std::uint32_t n, std::uint32_t half) { return n * half / 2; }

TRAINER_HD constexpr std::uint32_t HalfSize(std::uint32_t n, std::uint32_t half) {
  return HalfBegin(n, half + 1) - HalfBegin(n, half);
}

// Returns the gradient of padding: a small number that depends on rank, iteration and place. With it, every
// byte on the wire counts in the checksum of the parameters.
TRAINER_HD inline float PaddingGradient(std::uint32_t rank, std::uint64_t iteration, std::uint32_t place) {
  std::uint32_t x = place * 2654435761u + static_cast<std::uint32_t>(iteration) * 40503u + rank * 977u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return static_cast<float>(static_cast<std::int32_t>(x & 0xffu) - 128) * (1.0f / 1024.0f);
}

// Takes no time. The event behind it shows when the compute stream got past a wait.
struct Marker {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 0; }
  TRAINER_HD static void Apply(const Call&, std::uint32_t) {}
};

// Loads a batch of images; a: micro-batch of the iteration, or batch of the evaluation. Ranks take
// neighbouring ranges of the data.
struct LoadBatch {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows * kPixels; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t row = e / kPixels;
    const std::uint32_t pixel = e % kPixels;
    const std::uint64_t batch = s.evaluation ? c.a : c.iteration * s.accumulation + c.a;
    const std::uint64_t place = batch * s.batch_rows + s.first_row + row;
    if (s.evaluation && place >= s.held_out_images) {
      s.activation[0][e] = 0;
      if (pixel == 0) s.row_label[row] = kNoLabel;
      return;
    }
    const std::uint32_t image =
        s.evaluation ? s.order[s.train_images + place] : s.order[place % s.train_images];
    const float darkness = static_cast<float>(s.images[image * kPixels + pixel]) * (1.0f / 16.0f);
    s.activation[0][e] = darkness - s.mean[pixel];
    if (pixel == 0) s.row_label[row] = s.labels[image];
  }
};

// Updates the running mean of each pixel over the batches that this rank has seen.
struct UpdateMean {
  TRAINER_HD static std::uint32_t Count(const Call&) { return kPixels; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t pixel) {
    const State& s = c.s;
    float sum = 0;
    for (std::uint32_t row = 0; row < s.rows; ++row) sum += s.activation[0][row * kPixels + pixel];
    s.mean[pixel] += 0.1f * sum / static_cast<float>(s.rows);
  }
};

// Computes `size` outputs of a layer from its inputs [first, end) of one row. weights[i * stride + j] leads
// from input i to output j. The biases may be nullptr for none. The inner loop runs over neighbours.
TRAINER_HD inline void Outputs(const float* input, std::uint32_t first, std::uint32_t end,
                               const float* weights, std::uint32_t stride, const float* bias,
                               float* __restrict output, std::uint32_t size) {
  for (std::uint32_t j = 0; j < size; ++j) output[j] = bias != nullptr ? bias[j] : 0;
  for (std::uint32_t i = first; i < end; ++i) {
    const float* weight = weights + i * stride;
    const float value = input[i];
    for (std::uint32_t j = 0; j < size; ++j) output[j] += value * weight[j];
  }
}

// Computes what the inputs [first, end) add to half `c.b` of layer `c.a`, and the biases if `with_bias`.
TRAINER_HD inline void AddInputs(const Call& c, std::uint32_t row, std::uint32_t first, std::uint32_t end,
                                 bool with_bias) {
  const State& s = c.s;
  const std::uint32_t outputs = Width(c.a + 1);
  const std::uint32_t begin = HalfBegin(outputs, c.b);
  Outputs(s.activation[c.a] + row * Width(c.a), first, end, s.parameters + LayerOffset(c.a) + begin, outputs,
          with_bias ? s.parameters + BiasOffset(c.a) + begin : nullptr,
          s.activation[c.a + 1] + row * outputs + begin, HalfSize(outputs, c.b));
}

// Computes a layer; a: layer, b: half of its outputs. One element is one row.
struct Linear {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) { AddInputs(c, row, 0, Width(c.a), true); }
};

// Applies ReLU; a: level of the activation.
struct Relu {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows * Width(c.a); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    float& value = c.s.activation[c.a][e];
    if (value < 0) value = 0;
  }
};

// Computes probabilities, loss and correctness of each row. The probabilities go to delta[kLayers].
struct Softmax {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) {
    const State& s = c.s;
    const float* score = s.activation[kLayers] + row * kClasses;
    float* probability = s.delta[kLayers] + row * kClasses;
    std::uint32_t best = 0;
    for (std::uint32_t k = 1; k < kClasses; ++k) best = score[k] > score[best] ? k : best;
    float sum = 0;
    for (std::uint32_t k = 0; k < kClasses; ++k) sum += probability[k] = expf(score[k] - score[best]);
    for (std::uint32_t k = 0; k < kClasses; ++k) probability[k] /= sum;
    const std::uint32_t label = s.row_label[row];
    s.row_loss[row] = label == kNoLabel ? 0 : logf(sum) - (score[label] - score[best]);
    s.row_correct[row] = label == best ? 1 : 0;
  }
};

// Sums the loss; a: micro-batch, or batch of the evaluation; 0 starts a new sum.
struct SumLoss {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 1; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t) {
    const State& s = c.s;
    float loss = 0;
    float correct = 0;
    float images = 0;
    for (std::uint32_t row = 0; row < s.rows; ++row) {
      loss += s.row_loss[row];
      correct += s.row_correct[row];
      images += s.row_label[row] == kNoLabel ? 0.0f : 1.0f;
    }
    if (s.evaluation) {
      s.metric[0] = (c.a == 0 ? 0 : s.metric[0]) + loss;
      s.metric[1] = (c.a == 0 ? 0 : s.metric[1]) + correct;
      s.metric[2] = (c.a == 0 ? 0 : s.metric[2]) + images;
    } else {
      s.loss[0] = (c.a == 0 ? 0 : s.loss[0]) + loss / s.divisor;
    }
  }
};

struct LossGradient {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows * kClasses; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    float& delta = s.delta[kLayers][e];
    if (s.row_label[e / kClasses] == e % kClasses) delta -= 1;
    delta /= s.divisor;
  }
};

// Computes the gradient of weights; a: layer, b: half of its inputs, plus 2 to add to the gradient of the
// earlier micro-batches. One element is the weights of one input.
struct WeightGradient {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return HalfSize(Width(c.a), c.b & 1); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t inputs = Width(c.a);
    const std::uint32_t outputs = Width(c.a + 1);
    const std::uint32_t input = HalfBegin(inputs, c.b & 1) + e;
    float* __restrict gradient = s.gradients + LayerOffset(c.a) + input * outputs;
    if ((c.b & 2) == 0) {
      for (std::uint32_t j = 0; j < outputs; ++j) gradient[j] = 0;
    }
    for (std::uint32_t row = 0; row < s.rows; ++row) {
      const float value = s.activation[c.a][row * inputs + input];
      const float* delta = s.delta[c.a + 1] + row * outputs;
      for (std::uint32_t j = 0; j < outputs; ++j) gradient[j] += value * delta[j];
    }
  }
};

// Computes the gradient of biases; a: layer, b: 2 to add to the gradient of the earlier micro-batches.
struct BiasGradient {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return Width(c.a + 1); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t output) {
    const State& s = c.s;
    const std::uint32_t outputs = Width(c.a + 1);
    float* gradient = s.gradients + BiasOffset(c.a) + output;
    float sum = (c.b & 2) ? *gradient : 0;
    for (std::uint32_t row = 0; row < s.rows; ++row) sum += s.delta[c.a + 1][row * outputs + output];
    *gradient = sum;
  }
};

// Computes the gradient by a layer's inputs; a: layer, b: half of its inputs.
struct InputGradient {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows * HalfSize(Width(c.a), c.b); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t inputs = Width(c.a);
    const std::uint32_t outputs = Width(c.a + 1);
    const std::uint32_t half = HalfSize(inputs, c.b);
    const std::uint32_t row = e / half;
    const std::uint32_t input = HalfBegin(inputs, c.b) + e % half;
    const float* weight = s.parameters + LayerOffset(c.a) + input * outputs;
    const float* delta = s.delta[c.a + 1] + row * outputs;
    float sum = 0;
    for (std::uint32_t j = 0; j < outputs; ++j) sum += weight[j] * delta[j];
    s.delta[c.a][row * inputs + input] = sum;
  }
};

// Computes the gradient by the input of a ReLU; a: level of the activation.
struct ReluGradient {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows * Width(c.a); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    if (!(c.s.activation[c.a][e] > 0)) c.s.delta[c.a][e] = 0;
  }
};

// Collects this rank's gradients for one all-reduce; a: bucket.
struct Pack {
  TRAINER_HD static std::uint32_t Count(const Call& c) {
    return c.s.bucket_begin[c.a + 1] - c.s.bucket_begin[c.a];
  }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t place = s.bucket_begin[c.a] + e;
    const std::uint32_t source = s.bucket_source[place];
    s.bucket[place] =
        source < kParameters ? s.gradients[source] : PaddingGradient(s.rank, c.iteration, source);
  }
};

// Turns the sum over ranks into their mean, in the order of the parameters; a: bucket.
struct Unpack {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return Pack::Count(c); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t place = s.bucket_begin[c.a] + e;
    s.average[s.bucket_source[place]] = s.bucket[place] / static_cast<float>(s.world);
  }
};

// Makes one step of SGD with momentum.
TRAINER_HD inline void Descend(const State& s, float* parameter, float* kept, float gradient) {
  const float velocity = s.momentum * *kept + gradient;
  // The velocity of a dead unit becomes a denormal number. Arithmetic on such numbers is a hundred times
  // slower.
  *kept = fabsf(velocity) < 1e-30f ? 0 : velocity;
  *parameter -= s.learning_rate * *kept;
}

// Updates the parameters [a, b).
struct Update {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.b - c.a; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t i = c.a + e;
    Descend(s, &s.parameters[i], &s.velocity[i], s.average[i]);
  }
};

// Copies a layer's parameters from where they were gathered; a: layer.
struct Unshard {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return LayerOffset(c.a + 1) - LayerOffset(c.a); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    c.s.parameters[LayerOffset(c.a) + e] = c.s.gathered[c.a * c.s.unit + e];
  }
};

// Makes a layer's parameters useless until they are gathered again; a: layer.
struct Discard {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return Unshard::Count(c); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    c.s.parameters[LayerOffset(c.a) + e] = NAN;
    c.s.gathered[c.a * c.s.unit + e] = NAN;
  }
};

// Collects this rank's gradients of a layer; a: layer.
struct PackUnit {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.unit; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    s.scattered[c.a * s.unit + e] = e < Unshard::Count(c)
                                        ? s.gradients[LayerOffset(c.a) + e]
                                        : PaddingGradient(s.rank, c.iteration, c.a * s.unit + e);
  }
};

// Updates this rank's part of a layer by SGD with momentum; a: layer.
struct UpdateShard {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.unit / c.s.world; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const State& s = c.s;
    const std::uint32_t i = c.a * Count(c) + e;
    Descend(s, &s.shard[i], &s.shard_velocity[i], s.shard_gradient[i] / static_cast<float>(s.world));
  }
};

// In a tensor-parallel job each rank has a part of the inputs of each layer, with their weights: rank r has
// [PartBegin(n, s), PartEnd(n, s)) of n inputs. All ranks have the same activations, and the same biases.
TRAINER_HD inline std::uint32_t PartBegin(std::uint32_t n, const State& s) { return n * s.rank / s.world; }
TRAINER_HD inline std::uint32_t PartEnd(std::uint32_t n, const State& s) {
  return n * (s.rank + 1) / s.world;
}
TRAINER_HD inline bool InPart(std::uint32_t input, std::uint32_t n, const State& s) {
  return input >= PartBegin(n, s) && input < PartEnd(n, s);
}

// Computes what this rank's inputs add to a layer, for the sum over ranks; a: layer, b: half of its outputs.
// Rank 0 adds the biases.
struct LinearPart {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) {
    const std::uint32_t inputs = Width(c.a);
    AddInputs(c, row, PartBegin(inputs, c.s), PartEnd(inputs, c.s), c.s.rank == 0);
  }
};

// Does what WeightGradient does, for this rank's inputs.
struct WeightGradientPart {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return WeightGradient::Count(c); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const std::uint32_t inputs = Width(c.a);
    if (InPart(HalfBegin(inputs, c.b & 1) + e, inputs, c.s)) WeightGradient::Apply(c, e);
  }
};

// Does what InputGradient does, for this rank's inputs. The others are zero, for the sum over ranks.
struct InputGradientPart {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return InputGradient::Count(c); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const std::uint32_t inputs = Width(c.a);
    const std::uint32_t half = HalfSize(inputs, c.b);
    const std::uint32_t input = HalfBegin(inputs, c.b) + e % half;
    if (InPart(input, inputs, c.s)) return InputGradient::Apply(c, e);
    c.s.delta[c.a][e / half * inputs + input] = 0;
  }
};

// Takes the gradients of this rank's weights and of the biases for the step; a: layer. The gradients of all
// other weights are zero.
struct TakePart {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return LayerOffset(c.a + 1) - LayerOffset(c.a); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const std::uint32_t place = LayerOffset(c.a) + e;
    const bool own = e >= WeightCount(c.a) || InPart(e / Width(c.a + 1), Width(c.a), c.s);
    c.s.average[place] = own ? c.s.gradients[place] : 0;
  }
};

// Clears what another rank has of a layer, for the sum over ranks that gives all ranks all parameters; a:
// layer. Rank 0 has the biases.
struct KeepPart {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return TakePart::Count(c); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const bool bias = e >= WeightCount(c.a);
    const bool own = bias ? c.s.rank == 0 : InPart(e / Width(c.a + 1), Width(c.a), c.s);
    if (!own) c.s.parameters[LayerOffset(c.a) + e] = 0;
  }
};

struct RecordLoss {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 1; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t) {
    c.s.losses[c.iteration] = c.s.loss[0] / static_cast<float>(c.s.loss_ranks);
  }
};

// Records the sums of an evaluation; a: number of the evaluation.
struct RecordMetric {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 3; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) { c.s.metrics[c.a * 3 + e] = c.s.metric[e]; }
};

}  // namespace crossover::trainer::ops
