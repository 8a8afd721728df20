// Executes programs: launches, collectives, and the waits between the compute stream and the communication
// stream, as in PyTorch's DistributedDataParallel. The host waits only for gradients that it exchanges, and
// for buckets with --join=host.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "examples/trainer/communicator.h"
#include "examples/trainer/device_state.h"
#include "examples/trainer/experts.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/gradient_reduction.h"
#include "examples/trainer/host_exchange.h"
#include "examples/trainer/options.h"
#include "examples/trainer/program.h"
#include "examples/trainer/timeline.h"

namespace crossover::trainer {

class Runner {
 public:
  // REQUIRES: one of `communicator` and `exchange` is null. `reduction` is null where gradients are summed.
  Runner(Gpu& gpu, Communicator* communicator, HostExchange* exchange, GradientReduction* reduction,
         Timeline& timeline, const DeviceState& state, const BucketPlan& plan, const Options& options);

  // Executes one iteration. REQUIRES: it runs between BeginIteration() and EndIteration() of the timeline.
  void Train(const Program& program, const std::vector<std::uint64_t>& durations, std::uint64_t iteration);
  // Opens the timeline's next segment after the compute stream had to wait. Only a marker kernel runs
  // before it.
  void ResumeCompute();
  // Executes one evaluation. REQUIRES: it runs outside of iterations.
  void Evaluate(const Program& program, const std::vector<std::uint64_t>& durations);
  // Executes a program that takes no time, outside of iterations, on the state of training.
  void Assemble(const Program& program);

 private:
  // Launches a marker. ResumeTimed() then opens the timeline's next segment, within an iteration.
  void Resume();
  void ResumeTimed();
  // Issues the collective of `step` on `stream`.
  void Issue(const Step& step, cudaStream_t stream);
  // Starts the collective when the compute stream gets here. `done` is recorded when it has ended.
  void IssueOnSide(const Step& step, CUevent ready, CUevent done);
  // Does the same, and makes the compute stream wait for it.
  void IssueJoined(const Step& step);
  void JoinBuckets(std::uint64_t iteration);
  // Reads on the host how many images go to each expert.
  void ReadCounts();
  void ExchangeRows(Exchange exchange, cudaStream_t stream);
  // Makes the compute stream wait for the events.
  void Join(std::span<const CUevent> done);
  // Exchanges all buckets at once, when the compute stream gets here.
  void ExchangeBuckets();
  // Launches a marker from a thread that is cancelled in the middle of it.
  void ResumeOnADoomedThread();
  // Launches what was captured since the last collective.
  void FlushGraph();
  void Execute(const Step& step, std::uint64_t duration_ns, std::uint64_t iteration);

  Gpu& gpu_;
  Communicator* const communicator_;
  HostExchange* const exchange_;
  GradientReduction* const reduction_;
  float* const pinned_gradients_;  // used by the exchange
  Timeline& timeline_;
  const DeviceState& state_;
  const BucketPlan& plan_;
  const bool one_stream_;
  const bool host_joins_;
  const bool graphs_;
  const bool cancelled_;
  bool capturing_ = false;
  bool evaluating_ = false;
  bool timed_ = false;  // within an iteration
  std::array<CUevent, kBuckets> bucket_ready_;
  std::array<CUevent, kBuckets> bucket_done_;
  // Floats that this rank sends to each expert, and that it receives from each rank.
  std::vector<std::size_t> to_experts_, from_ranks_;
  std::array<CUevent, kLayers> gather_ready_;
  std::array<CUevent, kLayers> gather_done_;
  CUevent ready_;
  CUevent done_;
};

}  // namespace crossover::trainer
