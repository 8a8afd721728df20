#include "examples/trainer/program.h"

#include <cmath>

#include "examples/trainer/experts.h"

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

// A Pass goes through the layers in order. A sharded job gathers each layer in time, `prefetch` layers before
// it is used.
class Pass {
 public:
  Pass(Program& program, const ProgramOptions& options, bool backward)
      : program_(program),
        sharded_(options.variant == Variant::kSharded),
        prefetch_(options.prefetch),
        backward_(backward) {
    if (!sharded_) return;
    for (std::uint32_t i = 0; i < prefetch_; ++i) Gather(i);
  }

  // Gets the parameters of the layer that is the `i`-th of the pass.
  void Enter(std::uint32_t i) {
    if (!sharded_) return;
    Gather(i + prefetch_);
    program_.push_back({StepKind::kJoinGather, Kernel::kMarker, LayerOf(i), 0, 0});
    Launch(program_, Kernel::kUnshard, LayerOf(i));
  }
  void Leave(std::uint32_t i) {
    if (sharded_) Launch(program_, Kernel::kDiscard, LayerOf(i));
  }

 private:
  std::uint32_t LayerOf(std::uint32_t i) const { return backward_ ? kLayers - 1 - i : i; }
  void Gather(std::uint32_t i) {
    if (i < kLayers) program_.push_back({StepKind::kGather, Kernel::kMarker, LayerOf(i), 0, 0});
  }

  Program& program_;
  const bool sharded_;
  const std::uint32_t prefetch_;
  const bool backward_;
};

// Returns whether the layer is that of the experts.
bool IsExperts(std::uint32_t layer, const ProgramOptions& options) {
  return options.variant == Variant::kExperts && layer == kExpertLayer;
}

void ExchangeWithExperts(Program& program, Exchange exchange) {
  program.push_back({StepKind::kExchange, Kernel::kMarker, exchange, 0, 0});
}

// Computes the layer of the experts forward.
void ForwardByExperts(Program& program, const ProgramOptions& options) {
  Launch(program, Kernel::kRoute);
  Launch(program, Kernel::kDispatch, 0);
  if (options.routing == Routing::kVarying) Collective(program, StepKind::kShareCounts);
  ExchangeWithExperts(program, kToExperts);
  Launch(program, Kernel::kExpertForward);
  ExchangeWithExperts(program, kFromExperts);
  Launch(program, Kernel::kCollect, 0);
}

// Does the same backward; `add_bit` is that of the gradients' kernels.
void BackwardByExperts(Program& program, std::uint32_t add_bit) {
  Launch(program, Kernel::kDispatch, 1);
  ExchangeWithExperts(program, kDeltasToExperts);
  Launch(program, Kernel::kExpertGradient, 0, add_bit);
  Launch(program, Kernel::kExpertInputGradient);
  ExchangeWithExperts(program, kDeltasFromExperts);
  Launch(program, Kernel::kCollect, 1);
}

void Forward(Program& program, std::uint32_t batch, const ProgramOptions& options) {
  Launch(program, Kernel::kLoadBatch, batch);
  if (options.variant == Variant::kBroadcastBuffers) Launch(program, Kernel::kUpdateMean);
  Pass pass(program, options, false);
  const bool tensor = options.variant == Variant::kTensor;
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    pass.Enter(layer);
    if (IsExperts(layer, options)) {
      ForwardByExperts(program, options);
    } else {
      Launch(program, tensor ? Kernel::kLinearPart : Kernel::kLinear, layer, 0);
      Launch(program, tensor ? Kernel::kLinearPart : Kernel::kLinear, layer, 1);
    }
    pass.Leave(layer);
    if (tensor) program.push_back({StepKind::kSumActivation, Kernel::kMarker, layer + 1, 0, 0});
    // The data is a zero, in the pattern of a real job.
    if (options.variant == Variant::kSyncBatchNorm) Collective(program, StepKind::kReduceStats);
    if (layer + 1 < kLayers) Launch(program, Kernel::kRelu, layer + 1);
  }
  Launch(program, Kernel::kSoftmax);
  Launch(program, Kernel::kSumLoss, batch);
}

// Reduces the gradients of a layer, or a bucket that they complete.
void Reduce(Program& program, const ProgramOptions& options, std::uint32_t bucket) {
  const bool sharded = options.variant == Variant::kSharded;
  const std::uint32_t which = sharded ? ReadyAfterLayer(bucket) : bucket;
  Launch(program, sharded ? Kernel::kPackUnit : Kernel::kPack, which);
  program.push_back({sharded ? StepKind::kScatter : StepKind::kReduceBucket, Kernel::kMarker, which, 0, 0});
}

// Adds a backward pass. With `add`, gradients are added to those of earlier micro-batches. With `reduce`,
// they are reduced as soon as they are ready.
void Backward(Program& program, bool add, bool reduce, const ProgramOptions& options) {
  const std::uint32_t add_bit = add ? 2 : 0;
  const bool tensor = options.variant == Variant::kTensor;
  const Kernel weights = tensor ? Kernel::kWeightGradientPart : Kernel::kWeightGradient;
  const Kernel inputs = tensor ? Kernel::kInputGradientPart : Kernel::kInputGradient;
  Launch(program, Kernel::kLossGradient);
  Pass pass(program, options, true);
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    const std::uint32_t layer = ReadyAfterLayer(bucket);
    pass.Enter(bucket);
    const bool experts = IsExperts(layer, options);
    if (experts) {
      BackwardByExperts(program, add_bit);
    } else {
      Launch(program, weights, layer, 0 | add_bit);
      Launch(program, weights, layer, 1 | add_bit);
      Launch(program, Kernel::kBiasGradient, layer, add_bit);
    }
    if (reduce && !tensor) Reduce(program, options, bucket);
    if (layer > 0) {
      if (!experts) {
        Launch(program, inputs, layer, 0);
        Launch(program, inputs, layer, 1);
      }
      if (tensor) program.push_back({StepKind::kSumDelta, Kernel::kMarker, layer, 0, 0});
      Launch(program, Kernel::kReluGradient, layer);
    }
    pass.Leave(bucket);
  }
}

void Optimizer(Program& program, const ProgramOptions& options) {
  if (options.variant == Variant::kSharded) {
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) Launch(program, Kernel::kUpdateShard, layer);
    return;
  }
  const bool tensor = options.variant == Variant::kTensor;
  for (std::uint32_t i = 0; i < kLayers; ++i)  // as many buckets as layers
    Launch(program, tensor ? Kernel::kTakePart : Kernel::kUnpack, i);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    Launch(program, Kernel::kUpdate, LayerOffset(layer), BiasOffset(layer));
    Launch(program, Kernel::kUpdate, BiasOffset(layer), LayerOffset(layer + 1));
  }
  if (!tensor) Launch(program, Kernel::kUpdate, kParameters, options.total_parameters);
  if (options.variant == Variant::kExperts) Launch(program, Kernel::kUpdateExpert);
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
  if (buffers) Collective(program, StepKind::kSyncBuffers);
  for (std::uint32_t micro = 0; micro < options.accumulation; ++micro) {
    const bool last = micro + 1 == options.accumulation;
    std::size_t begin = program.size();
    Forward(program, micro, options);
    Spread(program, begin, kForwardShare / options.accumulation);
    if (last && loss && options.loss_point == LossPoint::kForward) Collective(program, StepKind::kReduceLoss);
    begin = program.size();
    Backward(program, micro > 0, last, options);
    Spread(program, begin, kBackwardShare / options.accumulation);
  }
  if (options.variant == Variant::kSharded) {
    Collective(program, StepKind::kJoinScatters);
  } else if (options.variant != Variant::kTensor) {
    Collective(program, StepKind::kJoinBuckets);
  }
  const std::size_t begin = program.size();
  Optimizer(program, options);
  if (loss && options.loss_point == LossPoint::kStep) Collective(program, StepKind::kReduceLoss);
  Launch(program, Kernel::kRecordLoss);
  Spread(program, begin, kOptimizerShare);
  return program;
}

Program EvaluationProgram(std::uint32_t batches, std::uint32_t number, bool sharded) {
  Program program;
  for (std::uint32_t batch = 0; batch < batches; ++batch) {
    const std::size_t begin = program.size();
    Forward(program, batch, {.variant = sharded ? Variant::kSharded : Variant::kPlain});
    Spread(program, begin, kForwardShare);
  }
  Collective(program, StepKind::kReduceMetric);
  Launch(program, Kernel::kRecordMetric, number);
  return program;
}

Program AssemblyProgram(Variant variant) {
  Program program;
  if (variant == Variant::kTensor) {
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) Launch(program, Kernel::kKeepPart, layer);
    Collective(program, StepKind::kSumParameters);
    return program;
  }
  Pass pass(program, {.variant = Variant::kSharded}, false);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) pass.Enter(layer);
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
