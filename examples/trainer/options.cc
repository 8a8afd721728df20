#include "examples/trainer/options.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>

#include "common/base/refusal.h"
#include "examples/trainer/parameters.h"
#include "examples/trainer/reduction_options.h"
#include "examples/trainer/stages.h"

namespace crossover::trainer {
namespace {

// A Setter sets one option from its text. It returns what is expected if it refuses the text, and no value
// otherwise.
using Setter = std::function<std::optional<std::string>(Options&, std::string_view)>;

struct Flag {
  std::string_view name;
  std::string_view value;  // how --help shows it
  std::string_view help;
  Setter set;
};

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return text;
}

template <typename T>
Setter Number(T Options::*member, T low, T high) {
  return [=](Options& options, std::string_view text) -> std::optional<std::string> {
    const std::optional<T> value = ParseNumber<T>(text);
    if (value && *value >= low && *value <= high) {
      options.*member = *value;
      return std::nullopt;
    }
    const std::string kind = std::is_integral_v<T> ? "a whole number" : "a number";
    return kind + " from " + Shown(static_cast<double>(low)) + " to " + Shown(static_cast<double>(high));
  };
}

template <typename T>
Setter Choice(T Options::*member, std::vector<std::pair<std::string_view, T>> choices) {
  return [=](Options& options, std::string_view text) -> std::optional<std::string> {
    std::string expected;
    for (const auto& [name, value] : choices) {
      if (name == text) {
        options.*member = value;
        return std::nullopt;
      }
      expected += (expected.empty() ? "" : ", ") + std::string(name);
    }
    return "one of " + expected;
  };
}

Setter Text(std::string Options::*member) {
  return [=](Options& options, std::string_view text) -> std::optional<std::string> {
    if (text.empty()) return "a path";
    options.*member = text;
    return std::nullopt;
  };
}

// Returns a setter for numbers from `low` to `high` with commas between them.
template <typename T>
Setter Numbers(std::vector<T> Options::*member, T low, T high) {
  return [=](Options& options, std::string_view text) -> std::optional<std::string> {
    std::vector<T> values;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      const std::optional<T> value = ParseNumber<T>(text.substr(begin, end - begin));
      if (!value || !(*value >= low && *value <= high)) {
        return std::string(std::is_integral_v<T> ? "whole " : "") + "numbers from " +
               Shown(static_cast<double>(low)) + " to " + Shown(static_cast<double>(high)) +
               " with commas between them";
      }
      values.push_back(*value);
      begin = end + 1;
    }
    options.*member = values;
    return std::nullopt;
  };
}

Setter Milliseconds(std::vector<double> Options::*member) { return Numbers<double>(member, 0, 100'000); }

const std::vector<Flag>& Flags() {
  static const std::vector<Flag> flags = {
      {"iterations", "N", "iterations to train (100)",
       Number<std::uint64_t>(&Options::iterations, 1, 100'000'000)},
      {"seed", "N", "of initial parameters and order of the images (1)",
       Number<std::uint64_t>(&Options::seed, 0, 1'000'000'000)},
      {"batch", "N", "images of one rank in one micro-batch (8)",
       Number<std::uint32_t>(&Options::batch, 1, 256)},
      {"learning-rate", "X", "of SGD (0.02)", Number<double>(&Options::learning_rate, 0, 10)},
      {"momentum", "X", "of SGD (0.9)", Number<double>(&Options::momentum, 0, 0.999)},
      {"compute-ms", "X", "duration of all kernels of one iteration together (20)",
       Number<double>(&Options::compute_ms, 0, 100'000)},
      {"gradient-bytes", "N", "bytes all-reduced in one iteration; at least what the model has (0)",
       Number<std::uint64_t>(&Options::gradient_bytes, 0, 1'000'000'000)},
      {"early-bytes", "X", "share of these bytes in the buckets that overlap backward (0.02)",
       Number<double>(&Options::early_bytes, 0, 0.9)},
      {"variant", "NAME",
       "plain, one_stream, broadcast_buffers, loss_allreduce, sync_bn, sharded, tensor, experts or pipeline "
       "(plain)",
       Choice<Variant>(&Options::variant, {{"plain", Variant::kPlain},
                                           {"one_stream", Variant::kOneStream},
                                           {"broadcast_buffers", Variant::kBroadcastBuffers},
                                           {"loss_allreduce", Variant::kLossAllreduce},
                                           {"sync_bn", Variant::kSyncBatchNorm},
                                           {"sharded", Variant::kSharded},
                                           {"tensor", Variant::kTensor},
                                           {"experts", Variant::kExperts},
                                           {"pipeline", Variant::kPipeline}})},
      {"routing", "HOW",
       "experts: which one gets an image, by its row or by the image: fixed or varying (fixed)",
       Choice<Routing>(&Options::routing, {{"fixed", Routing::kFixed}, {"varying", Routing::kVarying}})},
      {"plan", "FILE", "pipeline: its stages, as crossover plan pipeline -o json prints them",
       Text(&Options::plan)},
      {"microbatches", "N", "pipeline: micro-batches of one iteration (4)",
       Number<std::uint32_t>(&Options::microbatches, 1, kMostMicrobatches)},
      {"blocks", "N", "pipeline: blocks of the model (as many as ranks; at least 4)",
       Number<std::uint32_t>(&Options::blocks, 1, kMostBlocks)},
      {"block-forward-ms", "X,X", "pipeline: duration of the forward pass of each block, or of all (1)",
       Milliseconds(&Options::block_forward_ms)},
      {"block-backward-ms", "X,X", "pipeline: the same for the backward pass (1)",
       Milliseconds(&Options::block_backward_ms)},
      {"stage-fault", "NAME",
       "pipeline, for tests: no-wait for what is received, no-message for the first micro-batch, or none "
       "(none)",
       Choice<StageFault>(&Options::stage_fault, {{"none", StageFault::kNone},
                                                  {"no-wait", StageFault::kNoWait},
                                                  {"no-message", StageFault::kNoMessage}})},
      {"prefetch", "N", "sharded: layers that are gathered before they are needed (0)",
       Number<std::uint32_t>(&Options::prefetch, 0, 4)},
      {"loss-point", "WHEN", "loss_allreduce: after the forward pass or after the step (forward)",
       Choice<LossPoint>(&Options::loss_point,
                         {{"forward", LossPoint::kForward}, {"step", LossPoint::kStep}})},
      {"accumulation", "N", "micro-batches of one iteration (1)",
       Number<std::uint32_t>(&Options::accumulation, 1, 64)},
      {"speeds", "X,X", "speeds of the ranks' GPUs, for the ranks in turn: compute takes so much longer (1)",
       Numbers<double>(&Options::speeds, 0.01, 100)},
      {"shares", "FILE",
       "each rank computes this share of the images of an iteration: a weight for each rank; may change",
       Text(&Options::shares)},
      {"share-fault", "NAME", "shares, for tests: unweighted gradients, or none (none)",
       Choice<ShareFault>(&Options::share_fault,
                          {{"none", ShareFault::kNone}, {"unweighted", ShareFault::kUnweighted}})},
      {"eval-every", "N", "evaluate after every N iterations; 0: never (0)",
       Number<std::uint64_t>(&Options::eval_every, 0, 100'000'000)},
      {"jitter", "X", "standard deviation of a rank's compute time, as a share of it (0)",
       Number<double>(&Options::jitter, 0, 0.3)},
      {"tail", "P", "share of a rank's iterations whose compute takes one to three times as long (0)",
       Number<double>(&Options::tail, 0, 1)},
      {"jitter-seed", "N", "of these draws (0)",
       Number<std::uint64_t>(&Options::jitter_seed, 0, 1'000'000'000)},
      {"stream", "NAME", "compute stream: legacy, own or per-thread (legacy)",
       Choice<ComputeStream>(&Options::stream, {{"legacy", ComputeStream::kLegacy},
                                                {"own", ComputeStream::kOwn},
                                                {"per-thread", ComputeStream::kPerThread}})},
      {"nccl", "NAME", "plain; config: calls with settings; nonblocking, split or two communicators (plain)",
       Choice<NcclUse>(&Options::nccl, {{"plain", NcclUse::kPlain},
                                        {"config", NcclUse::kConfig},
                                        {"nonblocking", NcclUse::kNonBlocking},
                                        {"split", NcclUse::kSplit},
                                        {"two", NcclUse::kTwo}})},
      {"gradients", "HOW",
       "nccl, or host: over TCP by the host, which waits for the GPU before and makes no NCCL calls (nccl)",
       Choice<Gradients>(&Options::gradients, {{"nccl", Gradients::kNccl}, {"host", Gradients::kHost}})},
      {"exchange-ms", "X", "gradients=host: how long the exchange takes at least (0)",
       Number<double>(&Options::exchange_ms, 0, 1e5)},
      {"reduction", "NAME", "of gradients: sum, bf16, q8, adaptive, topk or adasum (sum)",
       Choice<reductions::Reduction>(&Options::reduction, {{"sum", reductions::Reduction::kSum},
                                                           {"bf16", reductions::Reduction::kBf16},
                                                           {"q8", reductions::Reduction::kQ8},
                                                           {"adaptive", reductions::Reduction::kAdaptive},
                                                           {"topk", reductions::Reduction::kTopK},
                                                           {"adasum", reductions::Reduction::kAdasum}})},
      {"topk-density", "X", "reduction=topk: share of the gradients that a rank sends (0.05)",
       Number<double>(&Options::topk_density, 1e-6, 1)},
      {"reduction-fault", "NAME",
       "reduction, for tests: two-bits, rounded to the nearest, for q8; no-residual for topk; or none (none)",
       Choice<reductions::Fault>(&Options::reduction_fault,
                                 {{"none", reductions::Fault::kNone},
                                  {"two-bits", reductions::Fault::kTwoBits},
                                  {"no-residual", reductions::Fault::kNoResidual}})},
      {"join", "WHO",
       "waits for the buckets: the compute stream, or the host by polling: stream or host (stream)",
       Choice<Join>(&Options::join, {{"stream", Join::kStream}, {"host", Join::kHost}})},
      {"launch", "WHAT",
       "kernels; graphs: what lies between two collectives is captured first; threads: each iteration is "
       "launched by a thread of its own; or cancelled: in each a thread that was cancelled launches the "
       "first "
       "kernel behind the buckets, and ends there (kernels)",
       Choice<LaunchBy>(&Options::launch, {{"kernels", LaunchBy::kKernels},
                                           {"graphs", LaunchBy::kGraphs},
                                           {"threads", LaunchBy::kThreads},
                                           {"cancelled", LaunchBy::kCancelled}})},
      {"loader", "NAME", "none, or fork: a child process that reads batches, one for each iteration (none)",
       Choice<Loader>(&Options::loader, {{"none", Loader::kNone}, {"fork", Loader::kFork}})},
      {"kernels", "NAME", "text, fatbin, or auto: the first of them that loads (auto)",
       Choice<KernelImage>(
           &Options::kernels,
           {{"auto", KernelImage::kAuto}, {"fatbin", KernelImage::kFatbin}, {"text", KernelImage::kText}})},
      {"kernel-sms", "N,N",
       "SMs that the launches of a kernel fill, for the kinds of kernels in turn: their grids say it (132)",
       Numbers<std::uint32_t>(&Options::kernel_sms, 1, 1024)},
      {"start-delay-ms", "X", "wait before the first iteration (0)",
       Number<double>(&Options::start_delay_ms, 0, 1e7)},
      {"stall-ms", "X", "wait for input before each iteration, once the GPU has nothing left to do (0)",
       Number<double>(&Options::stall_ms, 0, 1e5)},
      {"stall-rank", "N", "only this rank does so; -1: all (-1)",
       Number<std::int64_t>(&Options::stall_rank, -1, 100'000)},
      {"abort-every", "N", "abort the communicator after every N iterations and make another; 0: never (0)",
       Number<std::uint64_t>(&Options::abort_every, 0, 100'000'000)},
      {"leave-after", "N", "end without a word after N iterations; 0: never (0)",
       Number<std::uint64_t>(&Options::leave_after, 0, 100'000'000)},
      {"leave-rank", "N", "only this rank does so; -1: all (-1)",
       Number<std::int64_t>(&Options::leave_rank, -1, 100'000)},
      {"leave", "HOW", "at-once, or launching: by exit() of another thread, in the midst of it (at-once)",
       Choice<Leave>(&Options::leave, {{"at-once", Leave::kAtOnce}, {"launching", Leave::kWhileLaunching}})},
      {"start-over-after", "N",
       "after N iterations become another such program, by exec, which trains from the start; 0: never (0)",
       Number<std::uint64_t>(&Options::start_over_after, 0, 100'000'000)},
      {"host-memory-mib", "N", "host memory kept in use, as frameworks and loaders do (0)",
       Number<std::uint32_t>(&Options::host_memory_mib, 0, 1'000'000)},
      {"grow-after", "N", "from N iterations on take ever more host memory, as a leak does; 0: never (0)",
       Number<std::uint64_t>(&Options::grow_after, 0, 100'000'000)},
      {"pause-file", "FILE", "while FILE exists, start no iteration; SIGUSR1 pauses, SIGUSR2 resumes too",
       Text(&Options::pause_file)},
      {"log", "FILE", "write one JSON line for each iteration; {rank} stands for the rank",
       Text(&Options::log)},
      {"log-every", "N", "read the loss of every N-th iteration while training (1)",
       Number<std::uint64_t>(&Options::log_every, 1, 1000)},
      {"link-bytes-per-s", "X", "bandwidth of the slowest link, to print the expected link time",
       Number<double>(&Options::link_bytes_per_s, 1, 1e13)},
      {"data", "FILE", "the images (digits.csv of the source tree)", Text(&Options::data)},
  };
  return flags;
}

// Returns the first of these flags that was given, or "".
std::string FirstGiven(const Options& options, std::initializer_list<std::string_view> names) {
  for (const std::string& given : options.again) {
    const std::string name = given.substr(2, given.find('=') - 2);
    if (std::ranges::find(names, name) != names.end()) return given;
  }
  return "";
}

// Returns what is wrong with the flags of pipelines, or with flags beside them. A pipeline does not know the
// others; of those that benchmarks give each job, such as --gradient-bytes, it makes no use.
std::optional<UsageError> FaultOfPipeline(const Options& options) {
  if (options.variant != Variant::kPipeline) {
    const std::string given = FirstGiven(
        options, {"plan", "microbatches", "blocks", "block-forward-ms", "block-backward-ms", "stage-fault"});
    if (given.empty()) return std::nullopt;
    return UsageError{base::Refusal("--variant", "pipeline, because of " + given, Name(options.variant))};
  }
  const std::string unknown = FirstGiven(
      options, {"accumulation", "eval-every", "nccl", "gradients", "exchange-ms", "join", "launch", "loader",
                "loss-point", "stall-ms", "stall-rank", "abort-every", "leave-after", "leave-rank", "leave",
                "start-over-after", "host-memory-mib", "grow-after", "link-bytes-per-s"});
  if (!unknown.empty())
    return UsageError{base::Refusal("--variant=pipeline", "no such flag beside it", unknown)};
  if (options.plan.empty()) return std::nullopt;
  const std::string twice =
      FirstGiven(options, {"microbatches", "blocks", "block-forward-ms", "block-backward-ms"});
  if (!twice.empty()) return UsageError{base::Refusal("--plan", "no flag for what the plan says", twice)};
  return std::nullopt;
}

// Returns what is wrong beside --shares. The padding of the gradients is no image, and counts for each rank
// as before.
std::optional<UsageError> FaultOfShares(const Options& options) {
  if (options.shares.empty()) {
    const std::string given = FirstGiven(options, {"share-fault"});
    if (given.empty()) return std::nullopt;
    return UsageError{base::Refusal("--shares", "a file, because of " + given, "")};
  }
  if (options.variant != Variant::kPlain)
    return UsageError{base::Refusal("--variant", "plain, because of --shares", Name(options.variant))};
  const std::string given = FirstGiven(options, {"gradients", "launch", "abort-every"});
  if (given.empty()) return std::nullopt;
  return UsageError{base::Refusal("--shares", "no such flag beside it", given)};
}

const Flag* FindFlag(std::string_view name) {
  const auto& flags = Flags();
  const auto found = std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

// Reads a variable that must be a number from `low` to `high`.
std::variant<std::uint32_t, UsageError> ReadNumber(GetEnv get_env, const char* name, std::uint32_t low,
                                                   std::uint32_t high) {
  const char* text = get_env(name);
  const auto value = ParseNumber<std::uint32_t>(text ? text : "");
  if (value && *value >= low && *value <= high) return *value;
  return UsageError{base::Refusal(
      "environment: " + std::string(name),
      "a whole number from " + std::to_string(low) + " to " + std::to_string(high), text ? text : "nothing")};
}

}  // namespace

std::string_view Name(Variant variant) {
  switch (variant) {
    case Variant::kPlain:
      return "plain";
    case Variant::kOneStream:
      return "one_stream";
    case Variant::kBroadcastBuffers:
      return "broadcast_buffers";
    case Variant::kLossAllreduce:
      return "loss_allreduce";
    case Variant::kSyncBatchNorm:
      return "sync_bn";
    case Variant::kSharded:
      return "sharded";
    case Variant::kTensor:
      return "tensor";
    case Variant::kExperts:
      return "experts";
    case Variant::kPipeline:
      return "pipeline";
  }
  return "";
}

std::string_view Name(ComputeStream stream) {
  switch (stream) {
    case ComputeStream::kLegacy:
      return "legacy";
    case ComputeStream::kOwn:
      return "own";
    case ComputeStream::kPerThread:
      return "per-thread";
  }
  return "";
}

std::variant<Options, HelpWanted, UsageError> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") return HelpWanted{};
    if (argument.rfind("--", 0) != 0) return UsageError{argument + ": unknown argument; see --help"};
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const Flag* flag = FindFlag(name);
    if (flag == nullptr) return UsageError{"--" + name + ": unknown flag; see --help"};
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      return UsageError{base::Refusal("--" + name, "a value: " + std::string(flag->help), "none")};
    }
    const std::string value = equals == std::string::npos ? arguments[++i] : argument.substr(equals + 1);
    if (const auto expected = flag->set(options, value)) {
      return UsageError{base::Refusal("--" + name, *expected, value)};
    }
    if (name != "start-over-after") options.again.push_back("--" + name + "=" + value);
  }
  if (const auto fault = FaultOfPipeline(options)) return *fault;
  if (const auto fault = FaultOfShares(options)) return *fault;
  if (const auto fault = FaultOfReduction(options)) return *fault;
  if (options.prefetch != 0 && options.variant != Variant::kSharded) {
    return UsageError{
        base::Refusal("--prefetch", "0 unless --variant=sharded", std::to_string(options.prefetch))};
  }
  // Ranks evaluate images of their own, and these two exchange what they compute of the same ones.
  const bool exchanges = options.variant == Variant::kTensor || options.variant == Variant::kExperts;
  if (exchanges && options.eval_every != 0) {
    return UsageError{base::Refusal("--eval-every",
                                    "0, because of --variant=" + std::string(Name(options.variant)),
                                    std::to_string(options.eval_every))};
  }
  if (options.routing != Routing::kFixed && options.variant != Variant::kExperts)
    return UsageError{base::Refusal("--routing", "fixed unless --variant=experts", "varying")};
  if (options.launch == LaunchBy::kGraphs && options.stream != ComputeStream::kOwn) {
    return UsageError{base::Refusal("--stream", "own, as --launch=graphs captures it", Name(options.stream))};
  }
  const bool more = options.variant != Variant::kPlain || options.nccl != NcclUse::kPlain ||
                    options.eval_every != 0 || options.abort_every != 0;
  if (options.gradients == Gradients::kHost && more) {
    std::string given;
    for (const std::string& flag : options.again) given += (given.empty() ? "" : " ") + flag;
    return UsageError{base::Refusal(
        "--gradients=host", "--variant=plain, --nccl=plain, --eval-every=0 and --abort-every=0", given)};
  }
  return options;
}

std::string HelpText() {
  std::string text =
      "Data-parallel training of a small network on handwritten digits: one process for each rank.\n"
      "RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT are read from the environment.\n\n";
  for (const Flag& flag : Flags()) {
    std::string left = "  --" + std::string(flag.name) + "=" + std::string(flag.value);
    left.resize(std::max<std::size_t>(left.size() + 1, 26), ' ');
    text += left + std::string(flag.help) + "\n";
  }
  return text;
}

std::uint64_t JobDigest(const Options& o) {
  char text[512];
  const int size = std::snprintf(
      text, sizeof text,
      "%" PRIu64 " %" PRIu64 " %u %u %a %a %" PRIu64 " %a %d %d %" PRIu64 " %d %u %d %d %d %d %a",
      o.iterations, o.seed, o.batch, o.accumulation, o.learning_rate, o.momentum, o.gradient_bytes,
      o.early_bytes, static_cast<int>(o.variant), static_cast<int>(o.loss_point), o.eval_every,
      static_cast<int>(o.gradients), o.prefetch, o.shares.empty() ? 0 : 1, static_cast<int>(o.routing),
      static_cast<int>(o.reduction), static_cast<int>(o.reduction_fault), o.topk_density);
  return Digest(text, static_cast<std::size_t>(size));
}

std::variant<Rank, UsageError> ReadRank(GetEnv get_env) {
  Rank rank;
  struct Variable {
    const char* name;
    std::uint32_t low, high;
    std::uint32_t value;
  };
  Variable variables[] = {{"WORLD_SIZE", 1, 4096, 0},
                          {"RANK", 0, 4095, 0},
                          {"LOCAL_RANK", 0, 255, 0},
                          {"MASTER_PORT", 1, 65535, 0}};
  for (Variable& variable : variables) {
    if (&variable == &variables[1]) variable.high = variables[0].value - 1;
    auto value = ReadNumber(get_env, variable.name, variable.low, variable.high);
    if (auto* error = std::get_if<UsageError>(&value)) return *error;
    variable.value = std::get<std::uint32_t>(value);
  }
  const char* address = get_env("MASTER_ADDR");
  if (address == nullptr || *address == '\0') {
    return UsageError{
        base::Refusal("environment: MASTER_ADDR", "the host name or address of rank 0", "nothing")};
  }
  rank.world = variables[0].value;
  rank.rank = variables[1].value;
  rank.local_rank = variables[2].value;
  rank.master_port = static_cast<std::uint16_t>(variables[3].value);
  rank.master_addr = address;
  return rank;
}

}  // namespace crossover::trainer
