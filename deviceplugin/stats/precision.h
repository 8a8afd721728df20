// Computes with figures that have standard errors. Pure.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "turn/timing_model.h"

namespace crossover::deviceplugin {

// A Precise is a time and its standard error, relative to the time.
struct Precise {
  turn::Time value = 0;
  double error = 0;
};

// Returns the standard error of the mean of `samples`, relative to the mean. REQUIRES: the samples are in
// order of time. The error comes from the means of eight parts of the samples, so that it is right even if
// samples depend on the ones before. Returns 1 if it cannot be computed.
inline double ErrorOfMean(std::span<const double> samples) {
  constexpr std::size_t kParts = 8;
  const std::size_t parts = samples.size() < 2 * kParts ? samples.size() : kParts;
  if (parts < 2) return 1;
  std::vector<double> means;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto own = samples.subspan(part * samples.size() / parts,
                                     (part + 1) * samples.size() / parts - part * samples.size() / parts);
    means.push_back(std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(own.size()));
  }
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(parts);
  double squares = 0;
  for (const double part : means) squares += (part - mean) * (part - mean);
  if (mean <= 0) return 1;
  return std::sqrt(squares / static_cast<double>(parts * (parts - 1))) / mean;
}

// No figure counts as more exact than this, relative to its value.
inline constexpr double kLeastError = 0.005;

// Returns the mean of two figures of the same thing, in which the more exact one counts for more.
inline Precise Together(const Precise& a, const Precise& b) {
  const auto weight = [](const Precise& figure) {
    const double error = static_cast<double>(figure.value) * std::max(figure.error, kLeastError);
    return 1 / (error * error);
  };
  const double of_a = weight(a), of_b = weight(b);
  const double value =
      (of_a * static_cast<double>(a.value) + of_b * static_cast<double>(b.value)) / (of_a + of_b);
  return {static_cast<turn::Time>(value), 1 / std::sqrt(of_a + of_b) / value};
}

// Returns whether two figures differ by more than three standard errors. If they do, they are not figures of
// the same thing.
inline bool Apart(const Precise& a, const Precise& b) {
  const double error = std::hypot(static_cast<double>(a.value) * std::max(a.error, kLeastError),
                                  static_cast<double>(b.value) * std::max(b.error, kLeastError));
  return std::abs(static_cast<double>(a.value - b.value)) > 3 * error;
}

}  // namespace crossover::deviceplugin
