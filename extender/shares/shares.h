// Decides how the batch of a job is divided among its ranks, by what each rank takes for its part. Pure.
//
// The best weights make the compute of a rank and its wait for a turn the same for all ranks
// (common/gains/balance.h).
//
// The extender cannot see whether the job heeds the weights. So it compares how the times of the ranks have
// changed with how their weights have changed. If the times did not follow, the weights are made equal again,
// and stay so.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/gains/balance.h"

namespace crossover::extender {

using Weights = std::vector<std::uint32_t>;  // by rank, from kLeastWeight to kMostWeight

inline constexpr std::uint32_t kMostWeight = 1000;  // of the rank with the most to do
inline constexpr std::uint32_t kLeastWeight = 10;

using gains::RankTimes;

struct ShareSettings {
  // Times count for a decision when the weights are this old, and have had this many iterations. By then each
  // rank has read them, and the nodes have published what it takes since then, if it has changed.
  double settle_s = 120;
  double settle_iterations = 64;
  double worth = gains::kWorth;
  double followed = 0.5;  // the least part of a change of weights that the times must have followed
};

// A ShareState is what is kept of one job between decisions.
struct ShareState {
  Weights weights{};   // as decided last; empty: all ranks have equal parts
  double since_s = 0;  // when `weights` was decided, or when the ranks were first seen
  Weights before{};    // the weights before `weights`
  std::vector<double>
      times_s{};          // compute times under `before`; empty: it is known whether the times followed
  bool unheeded = false;  // the times did not follow: the weights stay equal
};

struct ShareDecision {
  enum class Kind : std::uint8_t { kStay, kChange, kWithdraw };
  Kind kind = Kind::kStay;
  double gain = 1;      // kChange: the longest time of a rank now over the one that is expected
  double followed = 1;  // kWithdraw: the part of the change that the times followed
};

// Returns what happens to the weights of a job, by the times of all its ranks in the order of their numbers,
// and changes `state` accordingly.
// `measured_s` is when the oldest of these times was published. REQUIRES: all compute times are positive.
ShareDecision DecideShares(std::span<const RankTimes> ranks, double measured_s, double now_s,
                           const ShareSettings& settings, ShareState* state);

// Returns the weights as the job reads them: "1000 1000 500 250".
std::string TextOf(const Weights& weights);
// Reads the text that TextOf() writes. Returns no weights if anything in it is wrong.
Weights WeightsOf(std::string_view text);

}  // namespace crossover::extender
