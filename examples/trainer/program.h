// Describes one iteration as a list of steps, and how long each kernel of it lasts. Pure: the runner
// executes it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "examples/trainer/buckets.h"
#include "examples/trainer/ops.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

enum class Kernel : std::uint8_t {
#define KERNEL_NAME(name, sms) k##name,
  TRAINER_KERNELS(KERNEL_NAME)
#undef KERNEL_NAME
};

struct KernelInfo {
  const char* name;
  std::uint32_t sms;
};

inline constexpr KernelInfo kKernelInfo[] = {
#define KERNEL_INFO(name, sms) {#name, sms},
    TRAINER_KERNELS(KERNEL_INFO)
#undef KERNEL_INFO
};
inline constexpr std::size_t kKernelCount = sizeof(kKernelInfo) / sizeof(kKernelInfo[0]);

// Returns how many SMs the launches of the `kernel`-th kind fill. `wished` gives the SMs of the kinds in
// turn; if it is empty, the defaults hold.
std::uint32_t SmsOf(std::size_t kernel, const std::vector<std::uint32_t>& wished);

enum class StepKind : std::uint8_t {
  kLaunch,         // a kernel on the compute stream
  kReduceBucket,   // all-reduce of bucket `a`
  kJoinBuckets,    // the compute stream waits for all buckets
  kSyncBuffers,    // broadcast of the model's buffers from rank 0, joined
  kReduceLoss,     // all-reduce of the loss, joined
  kReduceMetric,   // all-reduce of the evaluation's sums, joined
  kReduceStats,    // all-reduce of a layer's statistics, joined
  kGather,         // all-gather of layer `a`
  kJoinGather,     // the compute stream waits for it
  kScatter,        // reduce-scatter of the gradients of layer `a`
  kJoinScatters,   // the compute stream waits for all of them
  kSumActivation,  // all-reduce of activation `a`, joined
  kSumDelta,       // all-reduce of the gradient by activation `a`, joined
  kSumParameters,  // all-reduce of all parameters, joined
  kShareCounts,    // all-gather of how many images go to each expert, joined; the host reads them
  kExchange,       // exchange `a` of images with the experts (experts.h), joined
};

struct Step {
  StepKind kind;
  Kernel kernel = Kernel::kMarker;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double share = 0;  // share of the iteration's compute time
};

using Program = std::vector<Step>;

// ProgramOptions are the settings on which a program depends.
struct ProgramOptions {
  Variant variant = Variant::kPlain;
  LossPoint loss_point = LossPoint::kForward;
  std::uint32_t accumulation = 1;
  std::uint32_t total_parameters = kParameters;  // with padding
  std::uint32_t prefetch = 0;                    // sharded: layers that are gathered ahead
  Routing routing = Routing::kFixed;             // of experts
};

// Returns the program of one iteration. The shares of its launches add up to 1.
Program TrainingProgram(const ProgramOptions& options);

// Returns the program of evaluation `number`: `batches` forward passes over held-out images, each as long
// as a training one, and one all-reduce.
Program EvaluationProgram(std::uint32_t batches, std::uint32_t number, bool sharded = false);

// Returns the program by which a sharded or tensor-parallel job gathers all its parameters at the end. It
// takes no time.
Program AssemblyProgram(Variant variant);

// Returns the durations of all steps in ns, 0 for those that launch nothing. They add up to the sum of
// shares times `compute_ns`, to within 1 ns.
std::vector<std::uint64_t> Durations(const Program& program, double compute_ns);

}  // namespace crossover::trainer
