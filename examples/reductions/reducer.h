// Chooses among the reductions of this folder, and keeps what they need from call to call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "examples/reductions/groups.h"
#include "examples/reductions/topk.h"

namespace crossover::reductions {

enum class Reduction { kSum, kBf16, kQ8, kAdaptive, kTopK, kAdasum };

// A Fault makes a reduction one that is known to be bad, for tests and for controls of figures: kTwoBits
// takes 2 bits to the nearest level in place of 8 bits (kQ8), kNoResidual forgets what was not taken (kTopK).
enum class Fault { kNone, kTwoBits, kNoResidual };

constexpr std::string_view Name(Reduction reduction) {
  constexpr std::string_view kNames[] = {"sum", "bf16", "q8", "adaptive", "topk", "adasum"};
  return kNames[static_cast<std::size_t>(reduction)];
}

// Returns whether the reduction is over all ranks at once. The others go through the nodes.
constexpr bool IsFlat(Reduction reduction) {
  return reduction == Reduction::kBf16 || reduction == Reduction::kAdasum;
}

struct Settings {
  Reduction reduction = Reduction::kSum;
  Fault fault = Fault::kNone;
  std::uint64_t seed = 0;            // of random numbers; the same on all ranks
  double density = 0.05;             // of kTopK
  std::vector<std::size_t> tensors;  // of kAdasum: the borders of the tensors
};

// A Reducer is the state of one rank. It owns no group.
class Reducer {
 public:
  // `all` has all ranks, for flat reductions; `groups` is for the others. What is not needed may be null.
  // REQUIRES: `settings` are the same on all ranks, and its reduction is not kSum, which NCCL does.
  Reducer(Settings settings, Peers* all, const Groups& groups);

  // Replaces `values`, the gradients of this rank, by what takes the place of their sum over `ranks` ranks.
  // All ranks get the same bits. A trainer that divides by the number of ranks gets an average, or the
  // Adasum: that is multiplied by the number of ranks, a power of two, so that no bit is lost. `call` differs
  // from call to call.
  void Reduce(std::span<float> values, std::uint64_t call);

 private:
  const Settings settings_;
  Peers* const all_;
  const Groups groups_;
  TopK topk_;
};

}  // namespace crossover::reductions
