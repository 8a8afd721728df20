#include "examples/trainer/trainer.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <numeric>
#include <thread>

#include "examples/trainer/experts.h"
#include "examples/trainer/failure.h"
#include "examples/trainer/gradient_reduction.h"
#include "examples/trainer/parameters.h"
#include "examples/trainer/progress.h"
#include "examples/trainer/random.h"
#include "examples/trainer/rank_log.h"
#include "examples/trainer/reduction_options.h"
#include "examples/trainer/runner.h"
#include "examples/trainer/shards.h"
#include "examples/trainer/share_vote.h"
#include "examples/trainer/stage_training.h"
#include "examples/trainer/stuck_stop.h"
#include "examples/trainer/tensors.h"

namespace crossover::trainer {
namespace {

std::uint64_t EvaluationCount(const Options& options) {
  return options.eval_every == 0 ? 0 : options.iterations / options.eval_every;
}

std::uint32_t CountLaunches(const Program& program) {
  std::uint32_t launches = 0;
  for (const Step& step : program) launches += step.kind == StepKind::kLaunch;
  return launches;
}

// A Training is the run of one rank.
class Training {
 public:
  Training(const Options& options, const Rank& rank, const Dataset& dataset, Signals& signals)
      : options_(options),
        rank_(rank),
        dataset_(dataset),
        signals_(signals),
        log_file_(OpenLog(options, rank)),
        order_(OrderImages(dataset.size(), options.seed)),
        sharded_(options.variant == Variant::kSharded),
        tensor_(options.variant == Variant::kTensor),
        experts_(options.variant == Variant::kExperts),
        plan_(PlanBuckets(sharded_ || tensor_ || experts_ ? 0 : options.gradient_bytes, options.early_bytes)),
        program_(TrainingProgram({options.variant, options.loss_point, options.accumulation, plan_.total(),
                                  options.prefetch, options.routing})),
        gpu_(rank.local_rank, options.stream, options.kernels, options.kernel_sms),
        communicator_(options.gradients == Gradients::kHost
                          ? nullptr
                          : std::make_unique<Communicator>(rank, JobDigest(options), options.nccl)),
        exchange_(options.gradients == Gradients::kHost
                      ? std::make_unique<HostExchange>(
                            rank, JobDigest(options),
                            std::chrono::duration<double, std::milli>(options.exchange_ms))
                      : nullptr),
        guard_(signals, communicator_.get(), exchange_.get()),
        reduction_(options.reduction == reductions::Reduction::kSum
                       ? nullptr
                       : std::make_unique<GradientReduction>(gpu_, *communicator_, plan_, rank, options)),
        state_(MakeDeviceState(gpu_, options, rank, dataset, order_, plan_, EvaluationCount(options))),
        timeline_(gpu_, options.log_every + 2),
        runner_(gpu_, communicator_.get(), exchange_.get(), reduction_.get(), timeline_, state_, plan_,
                options),
        progress_(options, rank, gpu_, timeline_),
        vote_(options.shares.empty()
                  ? nullptr
                  : std::make_unique<ShareVote>(options.shares, rank, gpu_, *communicator_)),
        host_memory_(std::size_t{options.host_memory_mib} << 20, 1) {}

  void Run() {
    PrintStart();
    Prepare();
    try {
      Loop();
      Finish();
    } catch (const RankLost&) {
      // A rank that was told to stop has left. This rank's own signal may arrive a little later than that.
      if (options_.start_over_after == 0) signals_.Sleep(kLateStopMs);
      LeaveOrThrow();
    } catch (const Failure&) {
      LeaveOrThrow();
    }
    summary_.interrupted = signals_.stop() && progress_.records().size() < options_.iterations;
    WriteResults();
  }

 private:
  static constexpr double kLateStopMs = 1000;
  static constexpr std::size_t kLeak = 16 << 20;  // bytes per iteration

  // Handles what Run() has caught. Returns if the job was told to stop: then other ranks have left, and
  // enqueued work cannot end.
  void LeaveOrThrow() {
    if (options_.start_over_after != 0) StartOver();  // other ranks have started over
    if (!signals_.stop()) throw;
  }

  double ComputeNs() const {
    const std::vector<double>& speeds = options_.speeds;
    return options_.compute_ms * 1e6 / (speeds.empty() ? 1 : speeds[rank_.rank % speeds.size()]);
  }
  std::uint64_t EarlyBytes() const {
    return sharded_ || tensor_ ? 0 : std::uint64_t{plan_.begin[kEarlyBuckets]} * sizeof(float);
  }
  // Returns the bytes of an all-reduce that takes as long as all collectives of an iteration. Of a job with
  // experts it returns those of the gradients alone.
  std::uint64_t GradientBytes() const {
    if (tensor_) {
      return std::uint64_t{state_.training.summed} * sizeof(float) * kSumsOfAMicroBatch *
             options_.accumulation;
    }
    if (!sharded_) return std::uint64_t{plan_.total()} * sizeof(float);
    return std::uint64_t{state_.training.unit} * sizeof(float) * kUnitsOnTheWire / 2;
  }

  void PrintStart() const {
    if (rank_.rank != 0) return;
    std::printf("trainer: %u ranks, variant %s, %u kernels and %u buckets in an iteration, %" PRIu64
                " bytes of gradients of which %" PRIu64 " early; kernels: %s\n",
                rank_.world, std::string(Name(options_.variant)).c_str(), CountLaunches(program_), kBuckets,
                GradientBytes(), EarlyBytes(), gpu_.kernels().c_str());
    if (options_.link_bytes_per_s > 0) {
      std::printf("trainer: expected link time %.3f ms, compute %.3f ms\n",
                  LinkSeconds(rank_.world, GradientBytes(), options_.link_bytes_per_s) * 1e3,
                  options_.compute_ms);
    }
    std::fflush(stdout);
  }

  // Gives every rank the parameters of rank 0, as DistributedDataParallel does.
  void Prepare() {
    signals_.Sleep(options_.start_delay_ms);
    if (exchange_ != nullptr) {
      ExchangeParameters();
    } else {
      communicator_->BroadcastFromRankZero(state_.training.parameters, plan_.total(), gpu_.communication());
      communicator_->AllReduceSum(state_.scratch, 1, gpu_.communication());
      gpu_.Synchronize(gpu_.communication());
    }
    if (sharded_) Shard();
    if (experts_) MakeExpert();
    if (rank_.rank != 0) return;
    std::printf("trainer: all ranks are ready\n");
    std::fflush(stdout);
  }

  // Keeps this rank's part of each layer.
  void Shard() {
    std::vector<float> parameters(plan_.total());
    const State& state = state_.training;
    gpu_.Download(parameters.data(), state.parameters, parameters.size() * sizeof(float));
    const std::size_t part = state.unit / state.world;
    std::vector<float> mine(kLayers * part);
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      for (std::size_t e = 0; e < part; ++e) {
        const std::size_t place = LayerOffset(layer) + state.rank * part + e;
        if (place < LayerOffset(layer + 1)) mine[layer * part + e] = parameters[place];
      }
    }
    gpu_.Upload(state.shard, mine.data(), mine.size() * sizeof(float));
  }

  // Lets this rank's expert begin with the parameters of the layer that it takes the place of.
  void MakeExpert() {
    std::vector<float> parameters(kExpertParameters);
    const std::size_t bytes = parameters.size() * sizeof(float);
    gpu_.Download(parameters.data(), state_.training.parameters + LayerOffset(kExpertLayer), bytes);
    gpu_.Upload(state_.training.experts.parameters, parameters.data(), bytes);
  }

  // Gives every rank the parameters of rank 0 by a sum: the other ranks have zeros.
  void ExchangeParameters() {
    std::vector<float> parameters(plan_.total());
    const std::size_t bytes = parameters.size() * sizeof(float);
    gpu_.Download(parameters.data(), state_.training.parameters, bytes);
    exchange_->Sum(parameters);
    gpu_.Upload(state_.training.parameters, parameters.data(), bytes);
  }

  void Loop() {
    bool follows = false;
    for (std::uint64_t i = 0; i < options_.iterations; ++i) {
      if (signals_.WaitWhilePaused(options_.pause_file)) follows = false;
      if (signals_.stop()) return;
      LeaveIfWanted(i);
      if (options_.start_over_after != 0 && i == options_.start_over_after) StartOver();
      if (RenewIfWanted(i)) follows = false;
      if (options_.grow_after != 0 && i >= options_.grow_after)
        host_memory_.resize(host_memory_.size() + kLeak, 1);
      if (options_.loader == Loader::kFork) LoadInAnotherProcess();
      const bool stalled = StallForInput();
      if (options_.launch == LaunchBy::kThreads) {
        OnAThreadOfItsOwn([&] { EnqueueIteration(i, follows, stalled); });
      } else {
        EnqueueIteration(i, follows, stalled);
      }
      follows = true;
      if (options_.eval_every != 0 && (i + 1) % options_.eval_every == 0) {
        EnqueueEvaluation(i);
        follows = false;
      }
      progress_.FollowBehind(i);
    }
  }

  // Waits for input, as a loop that reads its loss and then waits for a slow data loader. Returns true if
  // it waited.
  bool StallForInput() {
    if (options_.stall_ms == 0) return false;
    if (options_.stall_rank >= 0 && static_cast<std::uint64_t>(options_.stall_rank) != rank_.rank)
      return false;
    gpu_.Synchronize(gpu_.compute());
    signals_.Sleep(options_.stall_ms);
    return true;
  }

  // Ends the process, as a rank that was killed for memory or that has no more data.
  void LeaveIfWanted(std::uint64_t i) const {
    const bool this_rank =
        options_.leave_rank < 0 || static_cast<std::uint64_t>(options_.leave_rank) == rank_.rank;
    if (options_.leave_after == 0 || i != options_.leave_after || !this_rank) return;
    if (options_.leave == Leave::kAtOnce) std::_Exit(0);
    std::thread([] { std::exit(0); }).detach();  // this thread does not notice
  }

  // Executes the program anew, as the worker of an elastic agent does when the world has changed. Cleans up
  // nothing.
  void StartOver() const {
    std::vector<char*> arguments = {const_cast<char*>("trainer")};
    for (const std::string& argument : options_.again)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execv("/proc/self/exe", arguments.data());
    throw Failure(std::string("exec: ") + std::strerror(errno));
  }

  // Runs `work` on a new thread, as a framework does whose worker threads come and go. Rethrows what it
  // throws.
  template <typename Work>
  void OnAThreadOfItsOwn(Work work) {
    std::exception_ptr failure;
    std::thread([&] {
      try {
        gpu_.MakeCurrent();
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    }).join();
    if (failure) std::rethrow_exception(failure);
  }

  bool RenewIfWanted(std::uint64_t i) {
    if (options_.abort_every == 0 || i == 0 || i % options_.abort_every != 0) return false;
    gpu_.Synchronize(gpu_.compute());
    gpu_.Synchronize(gpu_.communication());
    communicator_->Renew();
    return true;
  }

  // Forks, as a data loader with worker processes does. The child of a process that has a GPU must not use
  // the GPU.
  void LoadInAnotherProcess() const {
    const pid_t child = ::fork();
    if (child < 0) throw Failure(std::string("fork: ") + std::strerror(errno));
    if (child == 0) {
      std::_Exit(Digest(dataset_.images.data(), dataset_.images.size()) == 0 ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) throw Failure("--loader=fork: the process that reads a batch failed");
  }

  void EnqueueIteration(std::uint64_t i, bool follows, bool stalled) {
    const double factor = JitterFactor(options_.jitter, options_.tail, options_.jitter_seed, rank_.rank, i);
    if (vote_ != nullptr) ShareAnewIfAgreed(i);
    timeline_.BeginIteration(i, follows, stalled);
    if (stalled) runner_.ResumeCompute();
    if (vote_ != nullptr) vote_->Begin(i);
    runner_.Train(program_, Durations(program_, ComputeNs() * factor * ShareOfEqual()), i);
    if (vote_ != nullptr) vote_->End(i);
    progress_.EndIteration(i, state_.training.losses);
  }

  // Returns how many images this rank has for each one that it would have of equal shares.
  double ShareOfEqual() const { return static_cast<double>(state_.training.rows) / options_.batch; }

  // Changes this rank's share if all ranks have read the same weights. Gradients are summed over the images
  // of all ranks and divided by the number of ranks, so the divisor is that of equal shares.
  void ShareAnewIfAgreed(std::uint64_t i) {
    const Weights* const weights = vote_->Agreed(i);
    if (weights == nullptr) return;
    State& state = state_.training;
    const std::vector<std::uint32_t> shares = Divide(state.batch_rows, *weights);
    state.rows = shares[rank_.rank];
    state.first_row = std::accumulate(shares.begin(), shares.begin() + rank_.rank, std::uint32_t{0});
    const bool weighted = options_.share_fault == ShareFault::kNone;
    state.divisor = static_cast<float>((weighted ? options_.batch : state.rows) * options_.accumulation);
    gpu_.Upload(state_.training_on_device, &state, sizeof state);
    summary_.shares.push_back({i, state.rows});
  }

  void EnqueueEvaluation(std::uint64_t i) {
    const auto number = static_cast<std::uint32_t>(evaluations_.size());
    const Program program =
        EvaluationProgram(EvaluationBatches(order_.held_out, rank_.world), number, sharded_);
    runner_.Evaluate(program, Durations(program, ComputeNs() / options_.accumulation));
    evaluations_.push_back({i, 0, 0});
  }

  // Waits until all enqueued work has run, and reads the results.
  void Finish() {
    progress_.CollectRest();
    if (sharded_ || tensor_) runner_.Assemble(AssemblyProgram(options_.variant));
    gpu_.Synchronize(gpu_.communication());
    const State& state = state_.training;
    progress_.ReadLosses(state.losses);
    std::vector<float> parameters(plan_.total()), mean(kPixels), metrics(evaluations_.size() * 3);
    gpu_.Download(parameters.data(), state.parameters, parameters.size() * sizeof(float));
    gpu_.Download(mean.data(), state.mean, mean.size() * sizeof(float));
    if (!metrics.empty()) gpu_.Download(metrics.data(), state.metrics, metrics.size() * sizeof(float));
    for (std::size_t e = 0; e < evaluations_.size(); ++e) {
      evaluations_[e].loss = static_cast<double>(metrics[e * 3]) / static_cast<double>(metrics[e * 3 + 2]);
      evaluations_[e].accuracy =
          static_cast<double>(metrics[e * 3 + 1]) / static_cast<double>(metrics[e * 3 + 2]);
    }
    summary_.parameters_digest = Digest(parameters.data(), parameters.size() * sizeof(float));
    if (experts_) {  // the accuracy is that of this rank's expert for all images
      gpu_.Download(parameters.data() + LayerOffset(kExpertLayer), state.experts.parameters,
                    kExpertParameters * sizeof(float));
    }
    summary_.accuracy = Accuracy(parameters, mean, dataset_, order_);
  }

  void FillSummary() {
    SumUp(progress_.records(), progress_.losses(), &summary_);
    summary_.variant = Name(options_.variant);
    summary_.stream = Name(options_.stream);
    if (reduction_ != nullptr) summary_.reduction = Name(options_.reduction);
    summary_.kernels = gpu_.kernels();
    summary_.gradient_bytes = GradientBytes();
    summary_.early_bytes = EarlyBytes();
    summary_.kernels_per_iteration = CountLaunches(program_);
    if (options_.link_bytes_per_s > 0) {
      const double seconds = LinkSeconds(rank_.world, GradientBytes(), options_.link_bytes_per_s);
      summary_.link_ns = static_cast<std::int64_t>(seconds * 1e9);
    }
  }

  void WriteResults() {
    FillSummary();
    WriteLog(log_file_, options_, rank_, progress_.records(), progress_.losses(), evaluations_, summary_);
  }

  const Options& options_;
  const Rank& rank_;
  const Dataset& dataset_;
  Signals& signals_;
  std::ofstream log_file_;
  const ImageOrder order_;
  const bool sharded_, tensor_, experts_;
  const BucketPlan plan_;
  const Program program_;
  Gpu gpu_;
  // One of these two is null.
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<HostExchange> exchange_;
  StuckStopGuard guard_;
  std::unique_ptr<GradientReduction> reduction_;  // null: gradients are summed
  DeviceState state_;
  Timeline timeline_;
  Runner runner_;
  Progress progress_;
  std::unique_ptr<ShareVote> vote_;  // null: shares are equal
  std::vector<char> host_memory_;    // only occupies memory
  std::vector<EvaluationRecord> evaluations_;
  Summary summary_;
};

int Complain(const std::string& text, int code) {
  std::fprintf(stderr, "trainer: %s\n", text.c_str());
  return code;
}

}  // namespace

int TrainRank(const Options& options, const Rank& rank, const Dataset& dataset, Signals& signals) {
  Training(options, rank, dataset, signals).Run();
  return 0;
}

int Main(int argc, char** argv) {
  const auto parsed = ParseOptions({argv + 1, argv + argc});
  if (std::holds_alternative<HelpWanted>(parsed)) {
    std::fputs(HelpText().c_str(), stdout);
    return 0;
  }
  if (const auto* error = std::get_if<UsageError>(&parsed)) return Complain(error->text, 2);
  Options options = std::get<Options>(parsed);
  if (options.data.empty()) options.data = TRAINER_DATA;
  const auto rank = ReadRank([](const char* name) -> const char* { return std::getenv(name); });
  if (const auto* error = std::get_if<UsageError>(&rank)) return Complain(error->text, 2);
  if (const auto fault = FaultOfRanks(options, std::get<Rank>(rank))) return Complain(fault->text, 2);
  const auto dataset = LoadDataset(options.data);
  if (const auto* error = std::get_if<DatasetError>(&dataset)) return Complain(error->text, 2);
  Stages stages;
  if (options.variant == Variant::kPipeline) {
    auto found = StagesOf(options, std::get<Rank>(rank).world);
    if (const auto* error = std::get_if<UsageError>(&found)) return Complain(error->text, 2);
    stages = std::get<Stages>(std::move(found));
  }
  Signals signals;
  try {
    if (options.variant == Variant::kPipeline)
      return TrainStage(options, std::get<Rank>(rank), stages, std::get<Dataset>(dataset), signals);
    return TrainRank(options, std::get<Rank>(rank), std::get<Dataset>(dataset), signals);
  } catch (const Failure& failure) {
    return Complain("rank " + std::to_string(std::get<Rank>(rank).rank) + ": " + failure.what(),
                    failure.code());
  }
}

}  // namespace crossover::trainer
