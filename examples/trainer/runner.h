// Executes programs: launches, collectives, and how the compute stream and the communication stream wait for
// each other, as PyTorch's DistributedDataParallel does it. Never waits on the host but for gradients that go
// that way.
#pragma once

#include <array>

#include "examples/trainer/communicator.h"
#include "examples/trainer/device_state.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/host_exchange.h"
#include "examples/trainer/options.h"
#include "examples/trainer/program.h"
#include "examples/trainer/timeline.h"

namespace crossover::trainer {

class Runner {
 public:
  // One of `communicator` and `exchange` is null.
  Runner(Gpu& gpu, Communicator* communicator, HostExchange* exchange, Timeline& timeline,
         const DeviceState& state, const BucketPlan& plan, const Options& options);

  // Between BeginIteration() and EndIteration() of the timeline.
  void Train(const Program& program, const std::vector<std::uint64_t>& durations, std::uint64_t iteration);
  // Opens the timeline's next segment where the compute stream had to wait: nothing but a marker runs before.
  void ResumeCompute();
  // Outside of iterations.
  void Evaluate(const Program& program, const std::vector<std::uint64_t>& durations);

 private:
  // The collective `kind` on `stream`.
  void Issue(const Step& step, cudaStream_t stream);
  // Starts the collective when the compute stream is here; `done` is recorded when it has ended.
  void IssueOnSide(const Step& step, CUevent ready, CUevent done);
  // The same, and the compute stream waits for it.
  void IssueJoined(const Step& step);
  void JoinBuckets();
  // All buckets at once, once the compute stream is here.
  void ExchangeBuckets();
  // From a thread that ends in the midst of a launch.
  void ResumeOnADoomedThread();
  // Launches what has been captured since the last collective.
  void FlushGraph();
  void Execute(const Step& step, std::uint64_t duration_ns, std::uint64_t iteration);

  Gpu& gpu_;
  Communicator* const communicator_;
  HostExchange* const exchange_;
  float* const pinned_gradients_;  // for the exchange
  Timeline& timeline_;
  const DeviceState& state_;
  const BucketPlan& plan_;
  const bool one_stream_;
  const bool host_joins_;
  const bool graphs_;
  const bool cancelled_;
  bool capturing_ = false;
  bool evaluating_ = false;
  std::array<CUevent, kBuckets> bucket_ready_;
  std::array<CUevent, kBuckets> bucket_done_;
  CUevent ready_;
  CUevent done_;
};

}  // namespace crossover::trainer
