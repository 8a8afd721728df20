#include "examples/trainer/reduction_options.h"

#include <bit>
#include <string>

#include "common/base/refusal.h"

namespace crossover::trainer {
namespace {

using reductions::Fault;
using reductions::Reduction;

// Returns the value of a flag as it was given last, or "".
std::string Given(const Options& options, const std::string& name) {
  const std::string prefix = "--" + name + "=";
  std::string value;
  for (const std::string& given : options.again) {
    if (given.starts_with(prefix)) value = given.substr(prefix.size());
  }
  return value;
}

UsageError Refused(const Options& options, const std::string& flag, const std::string& expected) {
  return UsageError{base::Refusal("--" + flag, expected, Given(options, flag))};
}

// Returns what is wrong with the flags that belong to one reduction.
std::optional<UsageError> FaultOfDetails(const Options& options) {
  const Reduction reduction = options.reduction;
  if (options.topk_density != 0 && reduction != Reduction::kTopK)
    return Refused(options, "topk-density", "no such flag unless --reduction=topk");
  if (options.reduction_fault == Fault::kTwoBits && reduction != Reduction::kQ8)
    return Refused(options, "reduction-fault", "none unless --reduction=q8");
  if (options.reduction_fault == Fault::kNoResidual && reduction != Reduction::kTopK)
    return Refused(options, "reduction-fault", "none unless --reduction=topk");
  return std::nullopt;
}

}  // namespace

std::optional<UsageError> FaultOfReduction(const Options& options) {
  if (const auto fault = FaultOfDetails(options)) return fault;
  if (options.reduction == Reduction::kSum) return std::nullopt;
  const std::string because = ", because of --reduction=" + std::string(Name(options.reduction));
  if (options.variant != Variant::kPlain) return Refused(options, "variant", "plain" + because);
  if (options.gradients != Gradients::kNccl) return Refused(options, "gradients", "nccl" + because);
  if (options.nccl != NcclUse::kPlain) return Refused(options, "nccl", "plain" + because);
  if (options.join != Join::kStream) return Refused(options, "join", "stream" + because);
  if (!options.shares.empty()) return Refused(options, "shares", "no file" + because);
  if (options.abort_every != 0) return Refused(options, "abort-every", "0" + because);
  if (options.link_bytes_per_s != 0) return Refused(options, "link-bytes-per-s", "no such flag" + because);
  return std::nullopt;
}

std::optional<UsageError> FaultOfRanks(const Options& options, const Rank& rank) {
  if (options.reduction == Reduction::kSum) return std::nullopt;
  const std::string because = ", because of --reduction=" + std::string(Name(options.reduction));
  const std::string key = "environment: WORLD_SIZE";
  if (rank.world < 2)
    return UsageError{base::Refusal(key, "at least 2" + because, std::to_string(rank.world))};
  if (options.reduction == Reduction::kAdasum && !std::has_single_bit(rank.world))
    return UsageError{base::Refusal(key, "a power of two" + because, std::to_string(rank.world))};
  return std::nullopt;
}

}  // namespace crossover::trainer
