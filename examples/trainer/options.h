// Reads the command line and the environment of a rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "examples/reductions/reducer.h"

namespace crossover::trainer {

enum class Variant {
  kPlain,
  kOneStream,
  kBroadcastBuffers,
  kLossAllreduce,
  kSyncBatchNorm,
  kSharded,
  kTensor,
  kExperts,
  kPipeline
};
// NcclUse says how the job's communicator is made and called.
enum class NcclUse { kPlain, kConfig, kNonBlocking, kSplit, kTwo };
enum class Gradients { kNccl, kHost };  // how gradients are reduced
enum class Join { kStream, kHost };     // which side waits for the buckets
// LaunchBy says how kernels are launched. kGraphs: what lies between two collectives is captured, then
// launched. kThreads: another thread launches each iteration. kCancelled: in each iteration a thread ends
// in the middle of a launch.
enum class LaunchBy { kKernels, kGraphs, kThreads, kCancelled };
enum class Leave { kAtOnce, kWhileLaunching };
enum class Loader { kNone, kFork };
enum class ComputeStream { kLegacy, kOwn, kPerThread };
enum class KernelImage { kAuto, kFatbin, kText };
enum class LossPoint { kForward, kStep };
enum class Routing { kFixed, kVarying };  // how images get to experts: see expert_ops.h
// StageFault is what is wrong with a pipeline, for tests: a stage does not wait for what it receives, or the
// first activations of each iteration are not sent to rank 1.
enum class StageFault { kNone, kNoWait, kNoMessage };

// ShareFault is what is wrong with unequal shares, for tests: gradients count as if shares were equal.
enum class ShareFault { kNone, kUnweighted };

std::string_view Name(Variant variant);
std::string_view Name(ComputeStream stream);

struct Options {
  std::uint64_t iterations = 100;
  std::uint64_t seed = 1;
  std::uint32_t batch = 8;
  std::uint32_t accumulation = 1;
  std::vector<double> speeds;  // of the ranks in turn; empty: 1
  std::string shares;          // file of the ranks' weights; empty: all ranks have equal shares
  ShareFault share_fault = ShareFault::kNone;
  double learning_rate = 0.02;
  double momentum = 0.9;
  double compute_ms = 20;
  std::uint64_t gradient_bytes = 0;
  double early_bytes = 0.02;
  Variant variant = Variant::kPlain;
  std::uint32_t prefetch = 0;
  Routing routing = Routing::kFixed;
  std::uint32_t blocks = 0;        // of a pipeline's model; 0: as many as ranks, at least 4
  std::uint32_t microbatches = 0;  // of a pipeline; 0: 4
  std::vector<double> block_forward_ms, block_backward_ms;  // one for all or one for each; empty: 1
  std::string plan;
  StageFault stage_fault = StageFault::kNone;
  LossPoint loss_point = LossPoint::kForward;
  std::uint64_t eval_every = 0;
  double jitter = 0;
  double tail = 0;
  std::uint64_t jitter_seed = 0;
  ComputeStream stream = ComputeStream::kLegacy;
  NcclUse nccl = NcclUse::kPlain;
  Gradients gradients = Gradients::kNccl;
  double exchange_ms = 0;
  reductions::Reduction reduction = reductions::Reduction::kSum;
  reductions::Fault reduction_fault = reductions::Fault::kNone;
  double topk_density = 0;  // 0: the default
  Join join = Join::kStream;
  LaunchBy launch = LaunchBy::kKernels;
  Loader loader = Loader::kNone;
  KernelImage kernels = KernelImage::kAuto;
  std::vector<std::uint32_t> kernel_sms;  // for the kinds of kernels in turn; empty: as ops.h says
  double start_delay_ms = 0;
  double stall_ms = 0;
  std::int64_t stall_rank = -1;
  std::uint64_t abort_every = 0;
  std::uint64_t leave_after = 0;
  std::int64_t leave_rank = -1;
  Leave leave = Leave::kAtOnce;
  std::uint64_t start_over_after = 0;
  std::uint32_t host_memory_mib = 0;
  std::uint64_t grow_after = 0;
  std::string pause_file;
  std::string log;
  std::uint64_t log_every = 1;
  double link_bytes_per_s = 0;
  std::string data;
  std::vector<std::string> again;  // arguments of the program that starts over; without start-over-after
};

// A Rank is the environment that torchrun gives each rank.
struct Rank {
  std::uint32_t rank = 0;
  std::uint32_t world = 1;
  std::uint32_t local_rank = 0;
  std::string master_addr;
  std::uint16_t master_port = 0;
};

// A UsageError is one line that names the flag or variable, what is expected and the value.
struct UsageError {
  std::string text;
};
struct HelpWanted {};

std::variant<Options, HelpWanted, UsageError> ParseOptions(const std::vector<std::string>& arguments);
std::string HelpText();

// Returns a digest of all settings that must agree between ranks.
std::uint64_t JobDigest(const Options& options);

using GetEnv = const char* (*)(const char* name);
std::variant<Rank, UsageError> ReadRank(GetEnv get_env);

}  // namespace crossover::trainer
