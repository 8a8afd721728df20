#include "extender/placement/cover.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace crossover::placement {
namespace {

using Classes = std::vector<std::vector<Option>>;
using Price = std::pair<int, double>;

// Returns the price of the best choice among all, or nothing.
std::optional<Price> ByTryingAll(const Classes& classes, std::size_t at, int need, Price so_far) {
  if (at == classes.size()) return need <= 0 ? std::optional(so_far) : std::nullopt;
  std::optional<Price> best = ByTryingAll(classes, at + 1, need, so_far);
  for (const Option& option : classes[at]) {
    const Price with{so_far.first + option.gangs, so_far.second + option.cost};
    const auto other = ByTryingAll(classes, at + 1, need - option.gain, with);
    if (other && (!best || *other < *best)) best = other;
  }
  return best;
}

Price PriceOf(const Classes& classes, const std::vector<int>& chosen, int* gain) {
  Price price{0, 0};
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (chosen[c] < 0) continue;
    const Option& option = classes[c][static_cast<std::size_t>(chosen[c])];
    price = {price.first + option.gangs, price.second + option.cost};
    *gain += option.gain;
  }
  return price;
}

TEST(CheapestCoverTest, IsAsGoodAsTryingAll) {
  std::mt19937_64 random(7);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  int possible = 0;
  for (int round = 0; round < 2000; ++round) {
    Classes classes(static_cast<std::size_t>(1 + below(6)));
    for (std::vector<Option>& options : classes) {
      options.resize(static_cast<std::size_t>(below(4)));
      for (Option& option : options) option = {1 + below(5), 1 + below(3), 1.0 * below(20)};
    }
    const int need = 1 + below(12);
    const auto expected = ByTryingAll(classes, 0, need, {0, 0});
    const auto chosen = CheapestCover(classes, need);
    ASSERT_EQ(chosen.has_value(), expected.has_value()) << round;
    if (!chosen) continue;
    ++possible;
    int gain = 0;
    EXPECT_EQ(PriceOf(classes, *chosen, &gain), *expected) << round;
    EXPECT_GE(gain, need) << round;
  }
  EXPECT_GT(possible, 500);
}

TEST(CheapestCoverTest, WhereNothingIsNeededNothingIsChosen) {
  const Classes classes{{{.gain = 1, .gangs = 1, .cost = 0}}};
  EXPECT_EQ(CheapestCover(classes, 0), std::vector<int>{-1});
  EXPECT_EQ(CheapestCover({}, 1), std::nullopt);
}

}  // namespace
}  // namespace crossover::placement
