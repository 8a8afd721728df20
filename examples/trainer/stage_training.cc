#include "examples/trainer/stage_training.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "examples/trainer/failure.h"
#include "examples/trainer/parameters.h"
#include "examples/trainer/progress.h"
#include "examples/trainer/random.h"
#include "examples/trainer/rank_log.h"
#include "examples/trainer/stage_parameters.h"
#include "examples/trainer/stage_runner.h"
#include "examples/trainer/stuck_stop.h"

namespace crossover::trainer {
namespace {

// A StageTraining is the run of one rank.
class StageTraining {
 public:
  StageTraining(const Options& options, const Rank& rank, const Stages& stages, const Dataset& dataset,
                Signals& signals)
      : options_(options),
        rank_(rank),
        stages_(stages),
        dataset_(dataset),
        signals_(signals),
        log_file_(OpenLog(options, rank)),
        images_(OrderImages(dataset.size(), options.seed)),
        slots_(SlotsOf(OrderOf(stages, rank.rank))),
        gpu_(rank.local_rank, options.stream, options.kernels, options.kernel_sms),
        communicator_(rank, JobDigest(options) ^ StagesDigest(stages), options.nccl),
        guard_(signals, &communicator_, nullptr),
        state_(MakeStageState(gpu_, options, rank, stages, slots_, dataset, images_)),
        timeline_(gpu_, options.log_every + 2),
        runner_(gpu_, communicator_, timeline_, state_, stages, OrderOf(stages, rank.rank), slots_, rank,
                options.stage_fault),
        progress_(options, rank, gpu_, timeline_) {}

  void Run() {
    try {
      Prepare();
      Loop();
      Finish();
    } catch (const RankLost&) {
      // A rank that was told to stop has left. This rank's own signal may arrive a little later than that.
      signals_.Sleep(kLateStopMs);
      if (!signals_.stop()) throw;
    } catch (const Failure&) {
      if (!signals_.stop()) throw;
    }
    WriteResults();
  }

 private:
  static constexpr double kLateStopMs = 1000;

  std::uint32_t begin() const { return BlockOffset(state_.state.stage.begin); }
  std::uint32_t end() const { return BlocksEnd(state_.state.stage.end, state_.state.stage.blocks); }

  // Gives every rank the parameters of rank 0. What belongs to other ranks is no number then, so that a use
  // of it shows.
  void Prepare() {
    signals_.Sleep(options_.start_delay_ms);
    if (rank_.rank == 0) {
      std::printf(
          "trainer: %u ranks, variant pipeline, %u blocks and %u micro-batches, of which %u are halved; "
          "kernels: %s\n",
          rank_.world, stages_.blocks(), stages_.microbatches, stages_.sliced, gpu_.kernels().c_str());
      std::fflush(stdout);
    }
    communicator_.BroadcastFromRankZero(state_.state.parameters, state_.state.total, gpu_.communication());
    gpu_.Synchronize(gpu_.communication());
    OverwriteOthers(NAN);
    if (rank_.rank != 0) return;
    std::printf("trainer: all ranks are ready\n");
    std::fflush(stdout);
  }

  void OverwriteOthers(float value) {
    std::vector<float> parameters = Parameters();
    std::fill(parameters.begin(), parameters.begin() + begin(), value);
    std::fill(parameters.begin() + end(), parameters.end(), value);
    gpu_.Upload(state_.state.parameters, parameters.data(), parameters.size() * sizeof(float));
  }

  std::vector<float> Parameters() {
    std::vector<float> parameters(state_.state.total);
    gpu_.Download(parameters.data(), state_.state.parameters, parameters.size() * sizeof(float));
    return parameters;
  }

  void Loop() {
    bool follows = false;
    for (std::uint64_t i = 0; i < options_.iterations; ++i) {
      if (signals_.WaitWhilePaused(options_.pause_file)) follows = false;
      if (signals_.stop()) return;
      timeline_.BeginIteration(i, follows, false);
      runner_.Train(i, JitterFactor(options_.jitter, options_.tail, options_.jitter_seed, rank_.rank, i));
      progress_.EndIteration(i, state_.state.losses);
      follows = true;
      progress_.FollowBehind(i);
    }
  }

  // Waits until all enqueued work has run, and puts the model together.
  void Finish() {
    progress_.CollectRest();
    progress_.ReadLosses(state_.state.losses);
    OverwriteOthers(0);
    communicator_.AllReduceSum(state_.state.parameters, state_.state.total, gpu_.communication());
    gpu_.Synchronize(gpu_.communication());
    const std::vector<float> parameters = Parameters();
    summary_.parameters_digest = Digest(parameters.data(), parameters.size() * sizeof(float));
    summary_.accuracy = AccuracyOfBlocks(parameters, stages_.blocks(), dataset_, images_);
  }

  void WriteResults() {
    SumUp(progress_.records(), progress_.losses(), &summary_);
    summary_.variant = Name(options_.variant);
    summary_.stream = Name(options_.stream);
    summary_.kernels = gpu_.kernels();
    summary_.kernels_per_iteration = runner_.kernels();
    summary_.interrupted = signals_.stop() && progress_.records().size() < options_.iterations;
    WriteLog(log_file_, options_, rank_, progress_.records(), progress_.losses(), {}, summary_);
  }

  const Options& options_;
  const Rank& rank_;
  const Stages& stages_;
  const Dataset& dataset_;
  Signals& signals_;
  std::ofstream log_file_;
  const ImageOrder images_;
  const std::uint32_t slots_;
  Gpu gpu_;
  Communicator communicator_;
  StuckStopGuard guard_;
  StageState state_;
  Timeline timeline_;
  StageRunner runner_;
  Progress progress_;
  Summary summary_;
};

}  // namespace

int TrainStage(const Options& options, const Rank& rank, const Stages& stages, const Dataset& dataset,
               Signals& signals) {
  StageTraining(options, rank, stages, dataset, signals).Run();
  return 0;
}

}  // namespace crossover::trainer
