#include "turn/step_meter.h"

#include <algorithm>
#include <cmath>

namespace crossover::turn {
namespace {

// If long and short iterations alternate, the error of their mean is smaller. error() lets this reduce the
// squares to kLeastSpread of them at most, and by less if few iterations have shown it.
constexpr double kLeastSpread = 0.1;
constexpr double kFew = 4;

}  // namespace

void StepMeter::See(std::uint32_t iteration, Time now) {
  if (at_ != kNever && iteration != last_) {
    const double count = iteration - last_;
    const double each = static_cast<double>(now - at_) / count;
    AddMany(count, each, 0, 0);
    if (before_ > 0) products_ += (each - mean_) * (before_ - mean_);
    before_ = each;
  }
  last_ = iteration;
  at_ = now;
}

void StepMeter::SeeMany(double iterations, Time each, double spread) {
  const auto mean = static_cast<double>(each);
  AddMany(iterations, mean, iterations * spread * spread * mean * mean, 0);
}

void StepMeter::Add(const StepMeter& other) {
  AddMany(other.iterations_, other.mean_, other.squares_, other.products_);
}

void StepMeter::AddMany(double iterations, double mean, double squares, double products) {
  if (iterations <= 0) return;
  const double all = iterations_ + iterations;
  const double apart = mean - mean_;
  squares_ += squares + apart * apart * iterations_ * iterations / all;
  products_ += products;
  mean_ += apart * iterations / all;
  iterations_ = all;
}

void StepMeter::Fade(double most) {
  if (iterations_ <= most) return;
  squares_ *= most / iterations_;
  products_ *= most / iterations_;
  iterations_ = most;
}

double StepMeter::error() const {
  if (iterations_ < 2 || mean_ <= 0) return 1;
  const double spread =
      std::max(std::max(kLeastSpread, kFew / iterations_) * squares_, squares_ + 2 * products_);
  return std::min(1.0, std::sqrt(spread / (iterations_ - 1) / iterations_) / mean_);
}

}  // namespace crossover::turn
