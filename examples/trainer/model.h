// Describes the model, a multilayer perceptron on 8x8 digits, and all of it that lives in device memory.
//
// The host compiler and the CUDA compiler share this file. Counts are elements, not bytes; arrays are
// row-major float32.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define TRAINER_HD __host__ __device__
#else
#define TRAINER_HD
#endif

namespace crossover::trainer {

inline constexpr std::uint32_t kLayers = 5;
inline constexpr std::uint32_t kPixels = 64;
inline constexpr std::uint32_t kClasses = 10;
inline constexpr std::uint8_t kNoLabel = 0xff;  // a row without an image, at the end of a held-out shard

// Returns the width of activation `level`: level 0 is the image, level kLayers the class scores.
TRAINER_HD constexpr std::uint32_t Width(std::uint32_t level) {
  switch (level) {
    case 0:
      return kPixels;
    case 1:
      return 48;
    case 2:
      return 40;
    case 3:
      return 32;
    case 4:
      return 24;
    default:
      return kClasses;
  }
}

// Parameters and gradients are one flat array each. For every layer it holds the weights [input][output],
// then the bias.
TRAINER_HD constexpr std::uint32_t WeightCount(std::uint32_t layer) {
  return Width(layer) * Width(layer + 1);
}

TRAINER_HD constexpr std::uint32_t LayerOffset(std::uint32_t layer) {
  std::uint32_t offset = 0;
  for (std::uint32_t l = 0; l < layer; ++l) offset += WeightCount(l) + Width(l + 1);
  return offset;
}

TRAINER_HD constexpr std::uint32_t BiasOffset(std::uint32_t layer) {
  return LayerOffset(layer) + WeightCount(layer);
}

inline constexpr std::uint32_t kParameters = LayerOffset(kLayers);

// A Stage is what a stage of a pipeline keeps: see stage_model.h. Pointers are device pointers. A slot holds
// what is kept of one micro-batch from its forward to its backward pass.
struct Stage {
  std::uint32_t begin, end;  // its blocks are [begin, end) of the model's `blocks`
  std::uint32_t blocks;
  float* activation;  // [slot][level]
  float* hidden;      // [slot][block], behind the ReLU; as long as levels
  float* gradient;    // [slot][level]: of the loss by the activation
};

// An Experts is what a job with experts has in place of one layer: see experts.h. Pointers are device
// pointers. The message of one image has `floats` floats.
struct Experts {
  std::uint32_t varying;  // 1: the expert of an image depends on the image; 0: on its row
  std::uint32_t floats;
  float* parameters;  // of this rank's expert: weights, then biases
  float* velocity;
  float* gradients;
  std::uint32_t* slot;  // [row]: place of an image among those that this rank sends
  float* counts;        // [expert]: images that this rank sends
  float* all_counts;    // [rank][expert]
  float* sent;          // [slot][floats]
  float* answers;       // [slot][floats]
  float* received;      // [world * rows][floats]
  float* deltas;        // [world * rows][floats]
  float* outgoing;      // [world * rows][floats]
};

// A State is what every kernel gets a device pointer to. Training and evaluation have one each. They share
// all arrays except the activations. Pointers are device pointers.
struct State {
  // These fields describe the job.
  std::uint32_t rank;
  std::uint32_t world;
  std::uint32_t rows;          // images in one batch of this rank
  std::uint32_t first_row;     // images of the ranks before it in one batch of all ranks
  std::uint32_t batch_rows;    // images in one batch of all ranks
  std::uint32_t accumulation;  // micro-batches of one iteration
  std::uint32_t evaluation;    // 1: rows come from the held-out images
  std::uint32_t loss_ranks;    // number of ranks whose losses *loss sums when it is recorded: 1 or world
  float divisor;               // of sums over the images of an iteration of this rank
  float learning_rate;
  float momentum;

  // These fields are the data set. `order` lists the training images in the order of their use, then the
  // held-out ones.
  std::uint32_t train_images;
  std::uint32_t held_out_images;
  const std::uint8_t* images;
  const std::uint8_t* labels;
  const std::uint32_t* order;

  // These fields are the parameters and the optimizer's data. In each array, padding follows the model's
  // own parameters.
  std::uint32_t total;  // kParameters and the padding
  float* parameters;
  float* velocity;
  float* average;    // gradient averaged over ranks, in the order of the parameters
  float* gradients;  // gradients of this rank, kParameters
  float* mean;       // the model's buffers: running mean of each pixel

  // These fields are the gradient buckets. Bucket b is bucket[bucket_begin[b] .. bucket_begin[b + 1]).
  // Element i carries the gradient of parameter bucket_source[i].
  float* bucket;
  const std::uint32_t* bucket_begin;
  const std::uint32_t* bucket_source;

  // These fields are what a sharded job has in place of velocity and buckets: see shards.h. Each has a row
  // for each layer. Rows of the first three have `unit / world` floats, those of the other two have `unit`.
  std::uint32_t unit;
  float* shard;           // this rank's part of the parameters
  float* shard_velocity;  // of the optimizer
  float* shard_gradient;  // sum over ranks
  float* gathered;        // the parameters of all ranks
  float* scattered;       // the gradients of this rank

  // These fields hold one pass over the network.
  float* activation[kLayers + 1];  // [rows][Width(level)]
  float* delta[kLayers + 1];       // gradient of the loss by the activation; delta[0] is not used
  std::uint8_t* row_label;
  float* row_loss;
  float* row_correct;
  float* loss;    // 1 float: mean loss of the iteration
  float* metric;  // 3 floats: sum of losses, correct answers, images
  // A tensor-parallel job sums so many floats of an activation, or of a delta, over its ranks: the first rows
  // times width of them are the model's, and the rest is padding.
  std::uint32_t summed;

  // This is what a pipeline has in place of buckets and of the fields of one pass.
  Stage stage;
  Experts experts;

  // These fields are the results.
  float* losses;   // one float for each iteration
  float* metrics;  // three floats for each evaluation
};

// Gives the rank `rows` images of each batch, as many as each other rank has. REQUIRES: rank, world and
// accumulation are set.
inline void ShareEqually(State& state, std::uint32_t rows) {
  state.rows = rows;
  state.first_row = state.rank * rows;
  state.batch_rows = state.world * rows;
  state.divisor = static_cast<float>(rows * state.accumulation);
}

// Gives the rank the images of all ranks: in a tensor-parallel job all ranks have the same. REQUIRES: as
// above.
inline void TakeAll(State& state, std::uint32_t rows) {
  state.rows = state.batch_rows = state.world * rows;
  state.first_row = 0;
  state.divisor = static_cast<float>(state.rows * state.accumulation);
}

}  // namespace crossover::trainer
