// Executes the operations of one stage of a pipeline. Each message between neighbours has a communicator of
// the two ranks and a stream of its own, so that no message waits for another one. Events join them with the
// compute stream; the host waits for nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "examples/trainer/communicator.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/stage_state.h"
#include "examples/trainer/stages.h"
#include "examples/trainer/timeline.h"

namespace crossover::trainer {

class StageRunner {
 public:
  // Splits the communicator, so that all ranks must make one at the same time.
  StageRunner(Gpu& gpu, Communicator& communicator, Timeline& timeline, const StageState& state,
              const Stages& stages, std::vector<pipeline::Operation> order, std::uint32_t slots,
              const Rank& rank, StageFault fault);

  // Executes one iteration; all durations are multiplied by `factor`. REQUIRES: it runs between
  // BeginIteration() and EndIteration() of the timeline.
  void Train(std::uint64_t iteration, double factor);

  std::uint32_t kernels() const { return kernels_; }  // launched in the last iteration, without markers

 private:
  // A Lane is one way to or from a neighbour. Its buffers are one for each slot.
  struct Lane {
    std::size_t split;
    int peer;
    CUstream stream;
    std::vector<CUevent> full;  // by slot and part: the data of a part is there
    std::vector<CUevent> free;  // by slot: the buffer may be written
  };
  // A Part is what an operation works on: all rows of a slot or a half of them.
  struct Part {
    std::uint32_t slot;
    std::uint32_t rows;  // kAllRows, kFirstRows or kSecondRows
    std::uint32_t full() const { return slot * 2 + (rows == kSecondRows); }
  };

  std::optional<Lane> MakeLane(std::size_t even, std::size_t odd, std::uint32_t border, bool exists,
                               int peer);
  void Forward(const pipeline::Operation& operation, std::uint64_t iteration, double factor);
  void Backward(const pipeline::Operation& operation, std::uint64_t iteration, double factor);
  // Receives a message as soon as its buffer is free.
  void Receive(const Lane& lane, const Part& part, float* data, std::size_t floats);
  // Sends a message once the compute stream comes to this point.
  void Send(const Lane& lane, const Part& part, const float* data, std::size_t floats);
  // Makes the compute stream wait for what comes on `from`, and for the buffer that `to` sends.
  void AwaitMessages(const std::optional<Lane>& from, const std::optional<Lane>& to, const Part& part);
  void Launch(Kernel kernel, double ns, std::uint64_t iteration, std::uint32_t a, std::uint32_t b);
  bool Lost(const pipeline::Operation& operation, bool sends) const;

  Gpu& gpu_;
  Communicator& communicator_;
  Timeline& timeline_;
  const StageState& state_;
  const Stages& stages_;
  const std::vector<pipeline::Operation> order_;
  const std::uint32_t slots_;
  const std::uint32_t rank_;
  const StageFault fault_;
  std::optional<Lane> input_, output_, output_gradient_, input_gradient_;
  std::uint32_t kernels_ = 0;
};

}  // namespace crossover::trainer
