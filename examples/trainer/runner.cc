#include "examples/trainer/runner.h"

#include <pthread.h>

#include <span>

#include "examples/trainer/failure.h"

namespace crossover::trainer {

Runner::Runner(Gpu& gpu, Communicator* communicator, HostExchange* exchange, GradientReduction* reduction,
               Timeline& timeline, const DeviceState& state, const BucketPlan& plan, const Options& options)
    : gpu_(gpu),
      communicator_(communicator),
      exchange_(exchange),
      reduction_(reduction),
      pinned_gradients_(exchange == nullptr
                            ? nullptr
                            : static_cast<float*>(gpu.AllocateHost(plan.total() * sizeof(float)))),
      timeline_(timeline),
      state_(state),
      plan_(plan),
      one_stream_(options.variant == Variant::kOneStream),
      host_joins_(options.join == Join::kHost),
      graphs_(options.launch == LaunchBy::kGraphs),
      cancelled_(options.launch == LaunchBy::kCancelled),
      ready_(gpu.MakeEvent(false)),
      done_(gpu.MakeEvent(false)) {
  for (std::uint32_t b = 0; b < kBuckets; ++b) {
    bucket_ready_[b] = gpu.MakeEvent(false);
    bucket_done_[b] = gpu.MakeEvent(false);
  }
  if (options.variant == Variant::kExperts) ReadCounts();  // those of fixed routing stay
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    gather_ready_[layer] = gpu.MakeEvent(false);
    gather_done_[layer] = gpu.MakeEvent(false);
  }
}

void Runner::Train(const Program& program, const std::vector<std::uint64_t>& durations,
                   std::uint64_t iteration) {
  evaluating_ = false;
  timed_ = true;
  for (std::size_t i = 0; i < program.size(); ++i) Execute(program[i], durations[i], iteration);
  FlushGraph();
  timed_ = false;
}

void Runner::Assemble(const Program& program) {
  evaluating_ = false;
  for (const Step& step : program) Execute(step, 0, 0);
  FlushGraph();
}

void Runner::Evaluate(const Program& program, const std::vector<std::uint64_t>& durations) {
  evaluating_ = true;
  for (std::size_t i = 0; i < program.size(); ++i) Execute(program[i], durations[i], 0);
  FlushGraph();
}

void Runner::Issue(const Step& step, cudaStream_t stream) {
  const State& state = state_.training;
  switch (step.kind) {
    case StepKind::kReduceBucket:
      return communicator_->AllReduceSum(state.bucket + plan_.begin[step.a], plan_.size(step.a), stream);
    case StepKind::kSyncBuffers:
      return communicator_->BroadcastFromRankZero(state.mean, kPixels, stream);
    case StepKind::kReduceLoss:
      return communicator_->AllReduceSum(state.loss, 1, stream);
    case StepKind::kReduceMetric:
      return communicator_->AllReduceSum(state.metric, 3, stream);
    case StepKind::kReduceStats:
      return communicator_->AllReduceSum(state_.scratch, 1, stream);
    case StepKind::kGather: {
      const std::size_t part = state.unit / state.world;
      return communicator_->AllGather(state.shard + step.a * part, state.gathered + step.a * state.unit, part,
                                      stream);
    }
    case StepKind::kScatter: {
      const std::size_t part = state.unit / state.world;
      return communicator_->ReduceScatterSum(state.scattered + step.a * state.unit,
                                             state.shard_gradient + step.a * part, part, stream);
    }
    case StepKind::kSumActivation:
      return communicator_->AllReduceSum(state.activation[step.a], state.summed, stream);
    case StepKind::kSumDelta:
      return communicator_->AllReduceSum(state.delta[step.a], state.summed, stream);
    case StepKind::kSumParameters:
      return communicator_->AllReduceSum(state.parameters, kParameters, stream);
    case StepKind::kShareCounts:
      return communicator_->AllGather(state.experts.counts, state.experts.all_counts, state.world, stream);
    case StepKind::kExchange:
      return ExchangeRows(static_cast<Exchange>(step.a), stream);
    case StepKind::kLaunch:
    case StepKind::kJoinBuckets:
    case StepKind::kJoinGather:
    case StepKind::kJoinScatters:
      return;
  }
}

void Runner::ExchangeRows(Exchange exchange, cudaStream_t stream) {
  const Experts& experts = state_.training.experts;
  if (exchange == kToExperts || exchange == kDeltasToExperts) {
    float* const received = exchange == kToExperts ? experts.received : experts.deltas;
    return communicator_->Exchange(experts.sent, to_experts_, received, from_ranks_, stream);
  }
  communicator_->Exchange(experts.outgoing, from_ranks_, experts.answers, to_experts_, stream);
}

void Runner::ReadCounts() {
  const State& state = state_.training;
  std::vector<float> counts(std::size_t{state.world} * state.world);
  gpu_.Download(counts.data(), state.experts.all_counts, counts.size() * sizeof(float));
  to_experts_.resize(state.world);
  from_ranks_.resize(state.world);
  for (std::uint32_t rank = 0; rank < state.world; ++rank) {
    to_experts_[rank] =
        static_cast<std::size_t>(counts[state.rank * state.world + rank]) * state.experts.floats;
    from_ranks_[rank] =
        static_cast<std::size_t>(counts[rank * state.world + state.rank]) * state.experts.floats;
  }
}

void Runner::IssueOnSide(const Step& step, CUevent ready, CUevent done) {
  gpu_.Record(ready, gpu_.compute());
  gpu_.StreamWait(gpu_.communication(), ready);
  Issue(step, gpu_.communication());
  gpu_.Record(done, gpu_.communication());
}

void Runner::ResumeCompute() {
  Resume();
  timeline_.OpenSegment();
}

void Runner::Resume() { gpu_.Launch(Kernel::kMarker, 0, state_.training_on_device, 0, 0, 0); }

void Runner::ResumeTimed() {
  Resume();
  if (timed_) timeline_.OpenSegment();
}

void Runner::IssueJoined(const Step& step) {
  if (timed_) timeline_.CloseSegment();
  if (one_stream_) {
    Issue(step, gpu_.compute_for_others());
  } else {
    IssueOnSide(step, ready_, done_);
    gpu_.StreamWait(gpu_.compute(), done_);
  }
  ResumeTimed();
}

void Runner::ExchangeBuckets() {
  const State& state = state_.training;
  const std::span gradients(pinned_gradients_, plan_.total());
  gpu_.Download(gradients.data(), state.bucket, gradients.size_bytes());
  exchange_->Sum(gradients);
  gpu_.Upload(state.bucket, gradients.data(), gradients.size_bytes());
}

// The thread ends inside the launch if the driver has a cancellation point there, otherwise right after it.
void Runner::ResumeOnADoomedThread() {
  const auto run = [](void* self) -> void* {
    int before = 0;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    auto* const runner = static_cast<Runner*>(self);
    runner->gpu_.MakeCurrent();
    pthread_cancel(pthread_self());
    pthread_setcancelstate(before, &before);
    runner->gpu_.Launch(Kernel::kMarker, 0, runner->state_.training_on_device, 0, 0, 0);
    pthread_testcancel();
    return nullptr;
  };
  pthread_t thread{};
  void* end = nullptr;
  if (pthread_create(&thread, nullptr, run, this) != 0 || pthread_join(thread, &end) != 0 ||
      end != PTHREAD_CANCELED) {
    throw Failure("--launch=cancelled: expected a thread that launches a kernel and is cancelled, got none");
  }
}

void Runner::JoinBuckets(std::uint64_t iteration) {
  if (exchange_ == nullptr && reduction_ == nullptr) return Join(bucket_done_);
  timeline_.CloseSegment();
  if (reduction_ != nullptr) {
    reduction_->Reduce(state_.training.bucket, iteration);
  } else {
    ExchangeBuckets();
  }
  ResumeTimed();
}

void Runner::Join(std::span<const CUevent> done) {
  if (timed_) timeline_.CloseSegment();
  for (const CUevent event : done) {
    if (host_joins_) {
      gpu_.HostPoll(event);
    } else {
      gpu_.StreamWait(gpu_.compute(), event);
    }
  }
  if (cancelled_) ResumeOnADoomedThread();
  ResumeTimed();
}

void Runner::FlushGraph() {
  if (capturing_) gpu_.LaunchGraph();
  capturing_ = false;
}

void Runner::Execute(const Step& step, std::uint64_t duration_ns, std::uint64_t iteration) {
  if (step.kind != StepKind::kLaunch) FlushGraph();
  switch (step.kind) {
    case StepKind::kLaunch: {
      if (graphs_ && !capturing_) gpu_.BeginGraph();
      capturing_ = graphs_;
      const State* state = evaluating_ ? state_.evaluation_on_device : state_.training_on_device;
      return gpu_.Launch(step.kernel, duration_ns, state, iteration, step.a, step.b);
    }
    case StepKind::kReduceBucket:
      if (exchange_ != nullptr || reduction_ != nullptr) return;
      if (one_stream_) return IssueJoined(step);
      return IssueOnSide(step, bucket_ready_[step.a], bucket_done_[step.a]);
    case StepKind::kJoinBuckets:
      if (!one_stream_) JoinBuckets(iteration);
      return;
    case StepKind::kSyncBuffers:
    case StepKind::kReduceLoss:
    case StepKind::kReduceMetric:
    case StepKind::kReduceStats:
    case StepKind::kSumActivation:
    case StepKind::kSumDelta:
    case StepKind::kSumParameters:
    case StepKind::kExchange:
      return IssueJoined(step);
    case StepKind::kShareCounts:
      IssueJoined(step);
      return ReadCounts();
    case StepKind::kGather:
      return IssueOnSide(step, gather_ready_[step.a], gather_done_[step.a]);
    case StepKind::kJoinGather:
      return Join(std::span(&gather_done_[step.a], 1));
    case StepKind::kScatter:
      return IssueOnSide(step, bucket_ready_[step.a], bucket_done_[step.a]);
    case StepKind::kJoinScatters:
      return Join(bucket_done_);
  }
}

}  // namespace crossover::trainer
