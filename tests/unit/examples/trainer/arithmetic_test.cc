// Calls the kernels' host functions as the software GPU calls them, for ranks that live in this process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "examples/trainer/buckets.h"
#include "examples/trainer/dataset.h"
#include "examples/trainer/experts.h"
#include "examples/trainer/kernels_host.h"
#include "examples/trainer/parameters.h"
#include "examples/trainer/program.h"

namespace crossover::trainer {
namespace {

using Function = void (*)(void* const*);

constexpr Function kFunctions[] = {
#define FUNCTION(name, sms) trainer_##name,
    TRAINER_KERNELS(FUNCTION)
#undef FUNCTION
};

const Dataset& Digits() {
  static const Dataset dataset = std::get<Dataset>(LoadDataset(TRAINER_DATA));
  return dataset;
}

// A HostRank keeps one rank's state in host memory.
class HostRank {
 public:
  HostRank(std::uint32_t rank, std::uint32_t world, const ProgramOptions& options, const BucketPlan& plan,
           const ImageOrder& order) {
    state.rank = rank;
    state.world = world;
    state.accumulation = options.accumulation;
    if (options.variant == Variant::kTensor) {
      TakeAll(state, 8);
    } else {
      ShareEqually(state, 8);
    }
    labels_.resize(state.rows);
    state.loss_ranks = 1;
    state.learning_rate = 0.02f;
    state.momentum = 0.9f;
    state.train_images = order.train;
    state.held_out_images = order.held_out;
    state.images = Digits().images.data();
    state.labels = Digits().labels.data();
    state.order = order.order.data();
    state.total = plan.total();
    state.parameters = Floats(plan.total());
    std::ranges::copy(InitialParameters(1), state.parameters);
    state.velocity = Floats(plan.total());
    state.average = Floats(plan.total());
    state.gradients = Floats(kParameters);
    state.mean = Floats(kPixels);
    state.bucket = Floats(plan.total());
    state.bucket_begin = plan.begin.data();
    state.bucket_source = plan.source.data();
    for (std::uint32_t level = 0; level <= kLayers; ++level) {
      state.activation[level] = Floats(state.rows * Width(level));
      state.delta[level] = Floats(state.rows * Width(level));
    }
    state.row_label = labels_.data();
    state.row_loss = Floats(state.rows);
    state.row_correct = Floats(state.rows);
    state.loss = Floats(1);
    state.metric = Floats(3);
    state.losses = Floats(1000);
    state.metrics = Floats(30);
    if (options.variant == Variant::kExperts) AddExpert(options.routing);
  }

  void Launch(Kernel kernel, std::uint64_t iteration, std::uint32_t a = 0, std::uint32_t b = 0) {
    std::uint64_t duration = 0;
    const State* pointer = &state;
    void* arguments[] = {&duration, &pointer, &iteration, &a, &b};
    kFunctions[static_cast<std::size_t>(kernel)](arguments);
  }

  State state{};

 private:
  void AddExpert(Routing routing) {
    Experts& experts = state.experts;
    experts.varying = routing == Routing::kVarying ? 1 : 0;
    experts.floats = RowFloats(0, state.rows, state.accumulation);
    for (float** array : {&experts.parameters, &experts.velocity, &experts.gradients})
      *array = Floats(kExpertParameters);
    std::copy_n(state.parameters + LayerOffset(kExpertLayer), kExpertParameters, experts.parameters);
    slots_.resize(state.rows);
    experts.slot = slots_.data();
    experts.counts = Floats(state.world);
    experts.all_counts = Floats(state.world * state.world);
    for (float** array : {&experts.sent, &experts.answers}) *array = Floats(state.rows * experts.floats);
    for (float** array : {&experts.received, &experts.deltas, &experts.outgoing})
      *array = Floats(state.world * state.rows * experts.floats);
  }
  float* Floats(std::size_t count) {
    memory_.push_back(std::make_unique<float[]>(count));
    return memory_.back().get();
  }

  std::vector<std::unique_ptr<float[]>> memory_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint32_t> slots_;
};

// A HostJob runs in one process: all ranks advance step by step, and collectives are sums in the order of
// ranks.
class HostJob {
 public:
  HostJob(std::uint32_t world, const ProgramOptions& options, std::uint64_t bytes = 0)
      : plan(PlanBuckets(bytes, 0.02)), order(OrderImages(Digits().size(), 1)), program_(Make(options)) {
    for (std::uint32_t r = 0; r < world; ++r) {
      ranks.push_back(std::make_unique<HostRank>(r, world, options, plan, order));
    }
  }

  void Iterate(std::uint64_t iteration) {
    for (const Step& step : program_) {
      if (step.kind == StepKind::kReduceBucket) {
        Sum(plan.begin[step.a], plan.begin[step.a + 1], [](State& state) { return state.bucket; });
      } else if (step.kind == StepKind::kSumActivation) {
        Sum(0, ranks[0]->state.rows * Width(step.a), [&](State& state) { return state.activation[step.a]; });
      } else if (step.kind == StepKind::kSumDelta) {
        Sum(0, ranks[0]->state.rows * Width(step.a), [&](State& state) { return state.delta[step.a]; });
      } else if (step.kind == StepKind::kExchange) {
        ShareCounts();
        Exchange(step.a);
      } else if (step.kind == StepKind::kLaunch) {
        for (auto& rank : ranks) rank->Launch(step.kernel, iteration, step.a, step.b);
      }
    }
  }

  double MeanLoss(std::uint64_t iteration) const {
    double sum = 0;
    for (const auto& rank : ranks) sum += static_cast<double>(rank->state.losses[iteration]);
    return sum / static_cast<double>(ranks.size());
  }

  const BucketPlan plan;
  const ImageOrder order;
  std::vector<std::unique_ptr<HostRank>> ranks;

 private:
  Program Make(ProgramOptions options) const {
    options.total_parameters = plan.total();
    return TrainingProgram(options);
  }

  void ShareCounts() {
    for (auto& rank : ranks) {
      for (std::size_t from = 0; from < ranks.size(); ++from) {
        std::copy_n(ranks[from]->state.experts.counts, ranks.size(),
                    rank->state.experts.all_counts + from * ranks.size());
      }
    }
  }

  // Moves the rows of all ranks to the experts, or back.
  void Exchange(std::uint32_t exchange) {
    const bool back = exchange == kFromExperts || exchange == kDeltasFromExperts;
    std::vector<std::size_t> received(ranks.size());
    for (auto& from : ranks) {
      const trainer::Experts& sender = from->state.experts;
      std::size_t sent = 0;
      for (std::size_t to = 0; to < ranks.size(); ++to) {
        const trainer::Experts& expert = ranks[to]->state.experts;
        const auto floats = static_cast<std::size_t>(sender.counts[to]) * sender.floats;
        float* const there = exchange == kToExperts         ? expert.received
                             : exchange == kDeltasToExperts ? expert.deltas
                                                            : expert.outgoing;
        if (back) {
          std::copy_n(there + received[to], floats, sender.answers + sent);
        } else {
          std::copy_n(sender.sent + sent, floats, there + received[to]);
        }
        sent += floats;
        received[to] += floats;
      }
    }
  }

  // Sums [begin, end) of the array that `of` returns over the ranks.
  template <class Of>
  void Sum(std::uint32_t begin, std::uint32_t end, Of of) {
    for (std::uint32_t i = begin; i < end; ++i) {
      float sum = 0;
      for (auto& rank : ranks) sum += of(rank->state)[i];
      for (auto& rank : ranks) of(rank->state)[i] = sum;
    }
  }

  const Program program_;
};

double LossWith(HostRank& rank, std::uint32_t parameter, float value) {
  const float before = rank.state.parameters[parameter];
  rank.state.parameters[parameter] = value;
  rank.Launch(Kernel::kLoadBatch, 0, 0);
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    rank.Launch(Kernel::kLinear, 0, layer, 0);
    rank.Launch(Kernel::kLinear, 0, layer, 1);
    if (layer + 1 < kLayers) rank.Launch(Kernel::kRelu, 0, layer + 1);
  }
  rank.Launch(Kernel::kSoftmax, 0);
  rank.state.parameters[parameter] = before;
  double loss = 0;
  for (std::uint32_t row = 0; row < rank.state.rows; ++row) {
    loss += static_cast<double>(rank.state.row_loss[row]);
  }
  return loss / rank.state.rows;
}

TEST(ArithmeticTest, GradientsAreThoseOfFiniteDifferences) {
  HostJob job(1, {});
  HostRank& rank = *job.ranks[0];
  // One iteration that learns nothing gives the gradient at the initial parameters.
  rank.state.learning_rate = 0;
  job.Iterate(0);
  constexpr float kStep = 4e-3f;
  int checked = 0;
  for (std::uint32_t parameter = 0; parameter < kParameters; parameter += 37) {
    const float value = rank.state.parameters[parameter];
    const double upper = LossWith(rank, parameter, value + kStep);
    const double middle = LossWith(rank, parameter, value);
    const double lower = LossWith(rank, parameter, value - kStep);
    // If a ReLU switches within the step, the slopes of its two sides differ and say nothing.
    if (std::abs(upper - 2 * middle + lower) > 2e-5) continue;
    const double expected = (upper - lower) / (2 * static_cast<double>(kStep));
    EXPECT_NEAR(static_cast<double>(rank.state.gradients[parameter]), expected,
                2e-3 + 0.02 * std::abs(expected))
        << "parameter " << parameter;
    ++checked;
  }
  EXPECT_GT(checked, 150);
}

TEST(ArithmeticTest, FourRanksLearn) {
  HostJob job(4, {});
  for (std::uint64_t i = 0; i < 300; ++i) job.Iterate(i);
  double first = 0;
  double last = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    first += job.MeanLoss(i) / 20;
    last += job.MeanLoss(280 + i) / 20;
  }
  EXPECT_GT(first, 1.2);
  EXPECT_LT(last, 0.3);
  const State& state = job.ranks[2]->state;
  const std::vector<float> parameters(state.parameters, state.parameters + kParameters);
  const std::vector<float> mean(state.mean, state.mean + kPixels);
  EXPECT_GT(Accuracy(parameters, mean, Digits(), job.order), 0.85);
}

TEST(ArithmeticTest, TensorParallelRanksTrainTheModelOfDataParallelOnes) {
  for (std::uint32_t world : {1u, 3u, 4u}) {
    HostJob plain(world, {.accumulation = 2}),
        tensor(world, {.variant = Variant::kTensor, .accumulation = 2});
    for (std::uint64_t i = 0; i < 20; ++i) {
      plain.Iterate(i);
      tensor.Iterate(i);
      EXPECT_NEAR(tensor.MeanLoss(i), plain.MeanLoss(i), 1e-4) << "iteration " << i;
      for (auto& rank : tensor.ranks)
        EXPECT_EQ(rank->state.losses[i], tensor.ranks[0]->state.losses[i]) << "all ranks have all images";
    }
    for (auto& rank : tensor.ranks) {
      for (std::uint32_t layer = 0; layer < kLayers; ++layer) rank->Launch(Kernel::kKeepPart, 0, layer);
    }
    for (std::uint32_t i = 0; i < kParameters; ++i) {
      float sum = 0;
      for (auto& rank : tensor.ranks) sum += rank->state.parameters[i];
      ASSERT_NEAR(sum, plain.ranks[0]->state.parameters[i], 1e-3) << "parameter " << i;
    }
  }
}

TEST(ArithmeticTest, OneExpertIsThePlainLayer) {
  HostJob plain(1, {.accumulation = 2}), experts(1, {.variant = Variant::kExperts, .accumulation = 2});
  for (std::uint64_t i = 0; i < 20; ++i) {
    plain.Iterate(i);
    experts.Iterate(i);
    EXPECT_NEAR(experts.MeanLoss(i), plain.MeanLoss(i), 1e-5) << "iteration " << i;
  }
}

// All experts begin as the plain layer. So the first losses are those of the plain model, whichever expert
// gets an image, and the gradients of all experts together are those of the layer.
TEST(ArithmeticTest, EachImageIsComputedByOneExpert) {
  for (Routing routing : {Routing::kFixed, Routing::kVarying}) {
    HostJob plain(4, {}), job(4, {.variant = Variant::kExperts, .routing = routing});
    plain.Iterate(0);
    job.Iterate(0);
    EXPECT_NEAR(job.MeanLoss(0), plain.MeanLoss(0), 1e-6);
    for (std::uint32_t i = 0; i < kExpertParameters; ++i) {
      float of_experts = 0, of_layer = 0;
      for (auto& rank : job.ranks) of_experts += rank->state.experts.gradients[i];
      for (auto& rank : plain.ranks) of_layer += rank->state.gradients[LayerOffset(kExpertLayer) + i];
      ASSERT_NEAR(of_experts, of_layer, 1e-4) << "parameter " << i;
    }
    float images = 0;
    std::set<float> counts;
    for (auto& rank : job.ranks) {
      for (std::uint32_t expert = 0; expert < 4; ++expert) {
        images += rank->state.experts.counts[expert];
        counts.insert(rank->state.experts.counts[expert]);
      }
    }
    EXPECT_EQ(images, 4 * 8);
    EXPECT_EQ(counts.size() > 1, routing == Routing::kVarying);
  }
}

TEST(ArithmeticTest, ExpertsLearn) {
  HostJob job(4, {.variant = Variant::kExperts, .routing = Routing::kVarying});
  for (std::uint64_t i = 0; i < 300; ++i) job.Iterate(i);
  EXPECT_LT(job.MeanLoss(299), 0.5 * job.MeanLoss(0));
}

TEST(ArithmeticTest, RanksStayIdenticalPaddingIncluded) {
  HostJob job(3, {}, 40'000);
  for (std::uint64_t i = 0; i < 5; ++i) job.Iterate(i);
  const State& first = job.ranks[0]->state;
  for (const auto& rank : job.ranks) {
    for (std::uint32_t i = 0; i < job.plan.total(); ++i) {
      ASSERT_EQ(first.parameters[i], rank->state.parameters[i]) << i;
    }
  }
  EXPECT_NE(first.parameters[job.plan.total() - 1], 0.0f);  // padding moves too
}

TEST(ArithmeticTest, MicroBatchesAddUpToOneBatch) {
  // Two ranks with one micro-batch see in an iteration what one rank sees in two micro-batches.
  HostJob wide(2, {});
  HostJob deep(1, {.accumulation = 2});
  wide.Iterate(0);
  deep.Iterate(0);
  EXPECT_NEAR(wide.MeanLoss(0), deep.MeanLoss(0), 1e-5);
  for (std::uint32_t i = 0; i < kParameters; ++i) {
    EXPECT_NEAR(wide.ranks[0]->state.average[i], deep.ranks[0]->state.average[i], 1e-5);
  }
}

TEST(ArithmeticTest, BuffersFollowTheMeanOfEachPixel) {
  HostJob job(1, {.variant = Variant::kBroadcastBuffers});
  for (std::uint64_t i = 0; i < 100; ++i) job.Iterate(i);
  std::vector<double> exact(kPixels);
  for (std::uint32_t i = 0; i < job.order.train; ++i) {
    const std::uint32_t image = job.order.order[i];
    for (std::uint32_t p = 0; p < kPixels; ++p)
      exact[p] += Digits().images[image * kPixels + p] / 16.0 / job.order.train;
  }
  for (std::uint32_t p = 0; p < kPixels; ++p) {
    EXPECT_NEAR(static_cast<double>(job.ranks[0]->state.mean[p]), exact[p], 0.15);
  }
  EXPECT_GT(job.ranks[0]->state.mean[28], 0.3f);  // the middle is dark
}

TEST(ArithmeticTest, AnEvaluationCountsEveryHeldOutImageOnce) {
  HostJob job(3, {});
  float images = 0;
  for (auto& rank : job.ranks) {
    rank->state.evaluation = 1;
    for (const Step& step : EvaluationProgram((359 + 3 * 8 - 1) / (3 * 8), 0)) {
      if (step.kind == StepKind::kLaunch) rank->Launch(step.kernel, 0, step.a, step.b);
    }
    images += rank->state.metrics[2];
  }
  EXPECT_EQ(images, 359.0f);
}

}  // namespace
}  // namespace crossover::trainer
