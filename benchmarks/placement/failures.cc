#include "benchmarks/placement/failures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace crossover::benchmarks {

Failures::Failures(int nodes, const Failing& failing)
    : failing_(failing), random_(failing.seed), up_(static_cast<std::size_t>(nodes), true) {
  for (int n = 0; n < nodes; ++n) changes_s_.push_back(DrawUp());
}

// Draws with its own formula: the standard's distributions differ between libraries.
double Failures::DrawUp() {
  if (failing_.mean_up_s <= 0) return std::numeric_limits<double>::infinity();
  const double part = static_cast<double>(random_() >> 11) * 0x1p-53;
  return -std::log1p(-part) * failing_.mean_up_s;
}

double Failures::next_s() const { return std::ranges::min(changes_s_); }

int Failures::Pass() {
  const auto node = static_cast<std::size_t>(std::ranges::min_element(changes_s_) - changes_s_.begin());
  up_[node] = !up_[node];
  changes_s_[node] += up_[node] ? DrawUp() : failing_.down_s;
  return static_cast<int>(node);
}

}  // namespace crossover::benchmarks
