#include "deviceplugin/stats/recent.h"

#include <algorithm>
#include <vector>

#include "deviceplugin/stats/precision.h"

namespace crossover::deviceplugin {
namespace {

turn::Time MedianOf(std::vector<turn::Time> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<turn::Time> RecentDurations::Median() const {
  const std::size_t count = std::min(added_, kKept);
  if (count == 0) return std::nullopt;
  return MedianOf({kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count)});
}

void RecentSteps::Add(turn::Time at, turn::Time each, std::uint32_t count) {
  reports_.push_back({at, each, count});
  while (reports_.size() > kMost || (reports_.size() > kFew && reports_.front().at < at - kWindow)) {
    reports_.pop_front();
  }
}

turn::Time RecentSteps::Stall() const {
  std::vector<turn::Time> each;
  for (const Report& report : reports_) each.push_back(report.each);
  return MedianOf(std::move(each)) * kStall;
}

double RecentSteps::Error() const {
  if (!Mean()) return 1;
  const turn::Time stall = Stall();
  std::vector<double> iterations;
  for (const Report& report : reports_) {
    if (report.each < stall)
      iterations.insert(iterations.end(), std::min<std::uint32_t>(report.count, kMost),
                        static_cast<double>(report.each));
  }
  return ErrorOfMean(iterations);
}

std::optional<turn::Time> RecentSteps::Mean() const {
  if (reports_.empty()) return std::nullopt;
  const turn::Time stall = Stall();
  turn::Time total = 0;
  turn::Time count = 0;
  for (const Report& report : reports_) {
    if (report.each >= stall) continue;
    total += report.each * report.count;
    count += report.count;
  }
  if (count < kLeast) return std::nullopt;
  return total / count;
}

std::optional<turn::Time> RecentSteps::MeanAt(turn::Time now) const {
  const std::optional<turn::Time> mean = Mean();
  if (!mean || now - reports_.back().at > std::max(kWindow, kStall * *mean)) return std::nullopt;
  return mean;
}

}  // namespace crossover::deviceplugin
