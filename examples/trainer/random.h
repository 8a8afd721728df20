// Makes random numbers that depend only on a seed and are the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace crossover::trainer {

// Implements SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // Returns a number in (0, 1].
  constexpr double Uniform() { return static_cast<double>((Next() >> 11) + 1) * 0x1p-53; }

  // Returns a normal(0, 1) number by the method of Box and Muller.
  double Normal() {
    const double radius = std::sqrt(-2.0 * std::log(Uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * Uniform());
  }

 private:
  std::uint64_t state_;
};

// Returns the factor on the compute time of `rank` in `iteration`. It is one draw of normal(1, deviation),
// cut at three deviations: a draw beyond is drawn again. A share `tail` of all draws are stragglers. They
// are multiplied once more, by a number from 1 to 3, evenly distributed.
inline double JitterFactor(double deviation, double tail, std::uint64_t seed, std::uint32_t rank,
                           std::uint64_t iteration) {
  Random random(seed * 0xd1342543de82ef95u + (std::uint64_t{rank} << 40) + iteration);
  random.Next();
  double normal = random.Normal();
  while (std::abs(normal) > 3.0) normal = random.Normal();
  const double factor = 1.0 + deviation * normal;
  const bool straggles = random.Uniform() <= tail;
  return straggles ? factor * (1.0 + 2.0 * random.Uniform()) : factor;
}

}  // namespace crossover::trainer
