#include "extender/shares/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/text/number.h"

namespace crossover::extender {
namespace {

// Returns the weights for these parts. The largest is kMostWeight.
Weights WeightsFor(std::span<const double> parts) {
  const double most = *std::ranges::max_element(parts);
  Weights weights;
  for (const double part : parts)
    weights.push_back(
        std::max(kLeastWeight, static_cast<std::uint32_t>(std::lround(part / most * kMostWeight))));
  return weights;
}

// Returns which part of the change of weights the compute times have followed: the slope of log c'/c over log
// w'/w. It is 1 if times are as the weights, and 0 if they have not changed.
double Followed(const ShareState& state, std::span<const RankTimes> ranks) {
  std::vector<double> x, y;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    x.push_back(std::log(static_cast<double>(state.weights[i]) / state.before[i]));
    y.push_back(std::log(ranks[i].compute_s / state.times_s[i]));
  }
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double mean_x = mean(x), mean_y = mean(y);
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 ? xy / xx : 1;
}

void Change(const Weights& present, Weights weights, std::vector<double> times_s, double now_s,
            ShareState* state) {
  state->before = present;
  state->weights = std::move(weights);
  state->times_s = std::move(times_s);
  state->since_s = now_s;
}

}  // namespace

ShareDecision DecideShares(std::span<const RankTimes> ranks, double measured_s, double now_s,
                           const ShareSettings& settings, ShareState* state) {
  if (ranks.size() < 2) return {};
  const Weights equal(ranks.size(), kMostWeight);
  if (!state->weights.empty() && state->weights.size() != ranks.size()) *state = {.since_s = now_s};
  const Weights& present = state->weights.empty() ? equal : state->weights;
  double longest = 0;
  for (const RankTimes& rank : ranks) longest = std::max(longest, rank.compute_s + rank.wait_s);
  const double settled_s = std::max(settings.settle_s, settings.settle_iterations * longest);
  if (state->unheeded || now_s - state->since_s < settled_s) return {};
  if (!state->times_s.empty()) {
    if (measured_s <= state->since_s) return {};
    const double followed = Followed(*state, ranks);
    state->times_s.clear();
    if (followed < settings.followed) {
      state->unheeded = true;
      Change(equal, equal, {}, now_s, state);
      return {.kind = ShareDecision::Kind::kWithdraw, .followed = followed};
    }
  }
  const std::vector<double> parts(present.begin(), present.end());
  const gains::Balance balance = gains::BalanceOf(ranks, parts);
  const double gain = balance.longest_s / balance.together_s;
  Weights best = WeightsFor(balance.parts);
  if (gain < 1 + settings.worth || best == present) return {};
  std::vector<double> times_s;
  for (const RankTimes& rank : ranks) times_s.push_back(rank.compute_s);
  Change(present, std::move(best), std::move(times_s), now_s, state);
  return {.kind = ShareDecision::Kind::kChange, .gain = gain};
}

std::string TextOf(const Weights& weights) {
  std::string text;
  for (const std::uint32_t weight : weights) text += (text.empty() ? "" : " ") + std::to_string(weight);
  return text;
}

Weights WeightsOf(std::string_view text) {
  Weights weights;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const auto weight = text::ParseInteger(text.substr(0, end), kLeastWeight, kMostWeight);
    if (!weight) return {};
    weights.push_back(static_cast<std::uint32_t>(*weight));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return weights;
}

}  // namespace crossover::extender
