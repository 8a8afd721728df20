#include "examples/trainer/device_state.h"

#include <algorithm>

#include "examples/trainer/device_memory.h"
#include "examples/trainer/experts.h"
#include "examples/trainer/parameters.h"
#include "examples/trainer/shards.h"
#include "examples/trainer/tensors.h"

namespace crossover::trainer {
namespace {

// Adds room for batches of `rows` images. The state's own may be smaller.
void AddActivations(Gpu& gpu, State& state, std::uint32_t rows) {
  for (std::uint32_t level = 0; level <= kLayers; ++level) {
    const std::size_t floats = std::max<std::size_t>(std::size_t{rows} * Width(level), state.summed);
    state.activation[level] = Zeroed<float>(gpu, floats);
    if (level > 0) state.delta[level] = Zeroed<float>(gpu, floats);
  }
  state.row_label = Zeroed<std::uint8_t>(gpu, rows);
  state.row_loss = Zeroed<float>(gpu, rows);
  state.row_correct = Zeroed<float>(gpu, rows);
}

void AddShards(Gpu& gpu, State& state, std::uint32_t unit) {
  const std::size_t part = std::size_t{kLayers} * unit / state.world;
  state.unit = unit;
  state.shard = Zeroed<float>(gpu, part);
  state.shard_velocity = Zeroed<float>(gpu, part);
  state.shard_gradient = Zeroed<float>(gpu, part);
  state.gathered = Zeroed<float>(gpu, std::size_t{kLayers} * unit);
  state.scattered = Zeroed<float>(gpu, std::size_t{kLayers} * unit);
}

// Gives the rank an expert. REQUIRES: `state` has its rows.
void AddExperts(Gpu& gpu, State& state, const Options& options) {
  Experts& experts = state.experts;
  experts.varying = options.routing == Routing::kVarying ? 1 : 0;
  experts.floats = RowFloats(options.gradient_bytes, state.rows, options.accumulation);
  experts.parameters = Zeroed<float>(gpu, kExpertParameters);
  experts.velocity = Zeroed<float>(gpu, kExpertParameters);
  experts.gradients = Zeroed<float>(gpu, kExpertParameters);
  experts.slot = Zeroed<std::uint32_t>(gpu, state.rows);
  experts.counts = Zeroed<float>(gpu, state.world);
  std::vector<float> counts;
  for (std::uint32_t rank = 0; rank < state.world; ++rank) {
    for (std::uint32_t expert = 0; expert < state.world; ++expert)
      counts.push_back(static_cast<float>(FixedCount(state.rows, state.world, expert)));
  }
  experts.all_counts = Copied(gpu, counts);
  const std::size_t sent = std::size_t{state.rows} * experts.floats;
  experts.sent = Zeroed<float>(gpu, sent);
  experts.answers = Zeroed<float>(gpu, sent);
  experts.received = Zeroed<float>(gpu, state.world * sent);
  experts.deltas = Zeroed<float>(gpu, state.world * sent);
  experts.outgoing = Zeroed<float>(gpu, state.world * sent);
}

}  // namespace

DeviceState MakeDeviceState(Gpu& gpu, const Options& options, const Rank& rank, const Dataset& dataset,
                            const ImageOrder& order, const BucketPlan& plan, std::uint64_t evaluations) {
  DeviceState result;
  State& state = result.training;
  state.rank = rank.rank;
  state.world = rank.world;
  state.accumulation = options.accumulation;
  state.loss_ranks = options.variant == Variant::kLossAllreduce ? rank.world : 1;
  state.learning_rate = static_cast<float>(options.learning_rate);
  state.momentum = static_cast<float>(options.momentum);
  state.train_images = order.train;
  state.held_out_images = order.held_out;
  state.images = Copied(gpu, dataset.images);
  state.labels = Copied(gpu, dataset.labels);
  state.order = Copied(gpu, order.order);
  state.total = plan.total();
  std::vector<float> parameters(state.total);
  if (rank.rank == 0) std::ranges::copy(InitialParameters(options.seed), parameters.begin());
  state.parameters = Copied(gpu, parameters);
  state.velocity = Zeroed<float>(gpu, state.total);
  state.average = Zeroed<float>(gpu, state.total);
  state.gradients = Zeroed<float>(gpu, kParameters);
  state.mean = Zeroed<float>(gpu, kPixels);
  state.bucket = Zeroed<float>(gpu, state.total);
  state.bucket_begin = Copied(gpu, plan.begin);
  state.bucket_source = Copied(gpu, plan.source);
  if (options.variant == Variant::kSharded)
    AddShards(gpu, state, UnitSize(options.gradient_bytes, rank.world));
  state.loss = Zeroed<float>(gpu, 1);
  state.metric = Zeroed<float>(gpu, 3);
  state.losses = Zeroed<float>(gpu, options.iterations);
  state.metrics = Zeroed<float>(gpu, evaluations * 3);
  result.scratch = Zeroed<float>(gpu, 1);

  result.evaluation = state;
  result.evaluation.evaluation = 1;
  if (options.variant == Variant::kTensor) {
    TakeAll(result.training, options.batch);
    result.training.summed = SummedFloats(options.gradient_bytes, result.training.rows, options.accumulation);
  } else {
    ShareEqually(result.training, options.batch);
  }
  if (options.variant == Variant::kExperts) AddExperts(gpu, result.training, options);
  ShareEqually(result.evaluation, kEvaluationRows);
  AddActivations(gpu, result.training,
                 options.shares.empty() ? result.training.rows : result.training.batch_rows);
  AddActivations(gpu, result.evaluation, kEvaluationRows);
  result.training_on_device = Copied(gpu, std::vector<State>{result.training});
  result.evaluation_on_device = Copied(gpu, std::vector<State>{result.evaluation});
  return result;
}

}  // namespace crossover::trainer
