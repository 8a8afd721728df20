#include "benchmarks/placement/shake.h"

#include <algorithm>
#include <random>

namespace crossover::benchmarks {
namespace {

constexpr double kDay = 86'400, kPart = 0.02;

}  // namespace

void Shake(std::vector<Job>& jobs, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // This does not use the standard library's distributions: they differ between implementations.
  const auto part = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (Job& job : jobs) {
    job.submit_s += kDay * part();
    job.iterations *= 1 - kPart + 2 * kPart * part();
  }
  std::ranges::stable_sort(jobs, {}, &Job::submit_s);
}

}  // namespace crossover::benchmarks
