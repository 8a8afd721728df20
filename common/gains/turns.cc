#include "common/gains/turns.h"

#include <algorithm>
#include <cstddef>

namespace crossover::gains {
namespace {

constexpr int kHalvings = 40;  // of the interval in which the level lies

}  // namespace

double UsualLink(std::vector<double> links) {
  if (links.empty()) return 0;
  const auto middle = links.begin() + static_cast<std::ptrdiff_t>((links.size() - 1) / 2);
  std::ranges::nth_element(links, middle);
  return *middle;
}

FairRates::FairRates(std::span<const Use> uses, double top) : uses_(uses), top_(top) { level_ = Level(); }

double FairRates::Sum() const {
  double sum = 0;
  for (const Use& use : uses_) sum += Of(use);
  return sum;
}

// Returns whether the floors alone can be kept: the other jobs may get nothing.
bool FairRates::FloorsKept() const {
  double gpu = 0;
  for (const Use& use : uses_) {
    if (use.floor > top_) return false;
    gpu += use.gpu * use.floor;
  }
  return gpu <= kPromised * top_ && Fits(0);
}

double FairRates::At(const Use& use, double level) const {
  return std::max(use.floor, std::min(level, top_));
}

bool FairRates::Fits(double level) const {
  double gpu = 0, link = 0, host = 0;
  for (const Use& use : uses_) {
    const double rate = At(use, level);
    gpu += use.gpu * rate;
    link += use.link * rate;
    host += use.host * rate;
  }
  return std::max({gpu, link, host}) <= top_;
}

// Returns the highest level that fits. At this level no job could get more without taking from one that has
// less.
double FairRates::Level() const {
  if (Fits(top_)) return top_;
  double gpu = 0, link = 0, host = 0, floor = 0;
  for (const Use& use : uses_) {
    gpu += use.gpu;
    link += use.link;
    host += use.host;
    floor = std::max(floor, use.floor);
  }
  const double level = top_ / std::max({gpu, link, host});
  if (level >= floor) return level;
  double low = 0, high = top_;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (Fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace crossover::gains
