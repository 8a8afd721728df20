#include "examples/trainer/program.h"

#include <cmath>

namespace crossover::trainer {
namespace {

// Backward takes about twice as long as forward; the optimizer takes little.
constexpr double kForwardShare = 0.3;
constexpr double kBackwardShare = 0.6;
constexpr double kOptimizerShare = 0.1;

void Launch(Program& program, Kernel kernel, std::uint32_t a = 0, std::uint32_t b = 0) {
  program.push_back({StepKind::kLaunch, kernel, a, b, 0});
}

// Gives the launches from `begin` on equal parts of `share`.
void Spread(Program& program, std::size_t begin, double share) {
  std::size_t launches = 0;
  for (std::size_t i = begin; i < program.size(); ++i) launches += program[i].kind == StepKind::kLaunch;
  for (std::size_t i = begin; i < program.size(); ++i) {
    if (program[i].kind == StepKind::kLaunch) program[i].share = share / static_cast<double>(launches);
  }
}

void Collective(Program& program, StepKind kind) { program.push_back({kind}); }

// LayerExchange says what the layers of a variant exchange with each other. The data is zeros, in the
// pattern of a real job.
struct LayerExchange {
  explicit LayerExchange(Variant variant)
      : statistics(variant == Variant::kSyncBatchNorm), shards(variant == Variant::kSharded) {}
  bool statistics;  // after a layer's forward pass
  bool shards;      // parameters before a layer's passes, gradients after its backward pass
};

void Forward(Program& program, std::uint32_t batch, bool update_mean, LayerExchange exchange) {
  Launch(program, Kernel::kLoadBatch, batch);
  if (update_mean) Launch(program, Kernel::kUpdateMean);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    if (exchange.shards) Collective(program, StepKind::kGatherLayer);
    Launch(program, Kernel::kLinear, layer, 0);
    Launch(program, Kernel::kLinear, layer, 1);
    if (exchange.statistics) Collective(program, StepKind::kReduceStats);
    if (layer + 1 < kLayers) Launch(program, Kernel::kRelu, layer + 1);
  }
  Launch(program, Kernel::kSoftmax);
  Launch(program, Kernel::kSumLoss, batch);
}

// Adds a backward pass. With `add`, gradients are added to those of earlier micro-batches. With `reduce`,
// each bucket is reduced as soon as it is ready.
void Backward(Program& program, bool add, bool reduce, LayerExchange exchange) {
  const std::uint32_t add_bit = add ? 2 : 0;
  Launch(program, Kernel::kLossGradient);
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint32_t layer = ReadyAfterLayer(bucket);
    if (exchange.shards) Collective(program, StepKind::kGatherLayer);
    Launch(program, Kernel::kWeightGradient, layer, 0 | add_bit);
    Launch(program, Kernel::kWeightGradient, layer, 1 | add_bit);
    Launch(program, Kernel::kBiasGradient, layer, add_bit);
    if (exchange.shards) Collective(program, StepKind::kScatterLayer);
    if (reduce) {
      Launch(program, Kernel::kPack, bucket);
      program.push_back({StepKind::kReduceBucket, Kernel::kMarker, bucket, 0, 0});
    }
    if (layer == 0) break;
    Launch(program, Kernel::kInputGradient, layer, 0);
    Launch(program, Kernel::kInputGradient, layer, 1);
    Launch(program, Kernel::kReluGradient, layer);
  }
}

void Optimizer(Program& program, std::uint32_t total_parameters) {
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) Launch(program, Kernel::kUnpack, bucket);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    Launch(program, Kernel::kUpdate, LayerOffset(layer), BiasOffset(layer));
    Launch(program, Kernel::kUpdate, BiasOffset(layer), LayerOffset(layer + 1));
  }
  Launch(program, Kernel::kUpdate, kParameters, total_parameters);
}

}  // namespace

std::uint32_t SmsOf(std::size_t kernel, const std::vector<std::uint32_t>& wished) {
  const std::uint32_t sms = kKernelInfo[kernel].sms;
  return sms == 1 || wished.empty() ? sms : wished[kernel % wished.size()];
}

Program TrainingProgram(const ProgramOptions& options) {
  Program program;
  const bool buffers = options.variant == Variant::kBroadcastBuffers;
  const bool loss = options.variant == Variant::kLossAllreduce;
  const LayerExchange exchange(options.variant);
  if (buffers) Collective(program, StepKind::kSyncBuffers);
  for (std::uint32_t micro = 0; micro < options.accumulation; ++micro) {
    const bool last = micro + 1 == options.accumulation;
    std::size_t begin = program.size();
    Forward(program, micro, buffers, exchange);
    Spread(program, begin, kForwardShare / options.accumulation);
    if (last && loss && options.loss_point == LossPoint::kForward) Collective(program, StepKind::kReduceLoss);
    begin = program.size();
    Backward(program, micro > 0, last, exchange);
    Spread(program, begin, kBackwardShare / options.accumulation);
  }
  Collective(program, StepKind::kJoinBuckets);
  const std::size_t begin = program.size();
  Optimizer(program, options.total_parameters);
  if (loss && options.loss_point == LossPoint::kStep) Collective(program, StepKind::kReduceLoss);
  Launch(program, Kernel::kRecordLoss);
  Spread(program, begin, kOptimizerShare);
  return program;
}

Program EvaluationProgram(std::uint32_t batches, std::uint32_t number) {
  Program program;
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    const std::size_t begin = program.size();
    Forward(program, batch, false, LayerExchange(Variant::kPlain));
    Spread(program, begin, kForwardShare);
  }
  Collective(program, StepKind::kReduceMetric);
  Launch(program, Kernel::kRecordMetric, number);
  return program;
}

std::vector<std::uint64_t> Durations(const Program& program, double compute_ns) {
  std::vector<std::uint64_t> durations;
  double exact = 0;
  std::uint64_t given = 0;
  for (const Step& step : program) {
    exact += step.share * compute_ns;
    const auto upto = static_cast<std::uint64_t>(std::llround(exact));
    durations.push_back(upto - given);
    given = upto;
  }
  return durations;
}

}  // namespace crossover::trainer
