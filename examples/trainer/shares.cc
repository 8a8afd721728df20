#include "examples/trainer/shares.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "common/base/refusal.h"
#include "examples/trainer/parameters.h"

namespace crossover::trainer {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string Refuse(std::string_view name, std::string_view key, const std::string& expected,
                   std::string_view got) {
  return base::Refusal(std::string(name) + ": " + std::string(key), expected, base::Shown(got));
}

}  // namespace

std::variant<Weights, std::string> ParseWeights(std::string_view name, std::string_view text,
                                                std::uint32_t world) {
  Weights weights;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    std::uint32_t weight = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), weight);
    if (error != std::errc() || end != word.data() + word.size() || weight < 1 || weight > kMostWeight) {
      return Refuse(name, "weight of rank " + std::to_string(weights.size()),
                    "a whole number from 1 to " + std::to_string(kMostWeight), word);
    }
    weights.push_back(weight);
    text.remove_prefix(word.size());
  }
  if (weights.size() != world) {
    return Refuse(name, "weights", "one for each of " + std::to_string(world) + " ranks",
                  std::to_string(weights.size()));
  }
  return weights;
}

std::vector<std::uint32_t> Divide(std::uint32_t batch, std::span<const std::uint32_t> weights) {
  const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<std::uint32_t> shares;
  std::vector<std::pair<std::uint64_t, std::size_t>> remainders;  // (total - remainder, rank)
  std::uint32_t left = batch;
  for (const std::uint32_t weight : weights) {
    const std::uint64_t product = std::uint64_t{batch} * weight;
    remainders.emplace_back(total - product % total, shares.size());
    shares.push_back(static_cast<std::uint32_t>(product / total));
    left -= shares.back();
  }
  std::ranges::sort(remainders);
  for (std::uint32_t i = 0; i < left; ++i) ++shares[remainders[i].second];
  for (std::uint32_t& share : shares) {
    if (share != 0) continue;
    --*std::ranges::max_element(shares);
    share = 1;
  }
  return shares;
}

std::uint32_t WeightsDigest(std::span<const std::uint32_t> weights) {
  const std::uint64_t digest = Digest(weights.data(), weights.size_bytes());
  return static_cast<std::uint32_t>(digest % 0xffffff) + 1;
}

}  // namespace crossover::trainer
