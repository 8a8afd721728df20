#include "turn/shares.h"

#include <algorithm>
#include <cmath>

namespace crossover::turn {

double FairRate(const Demand* demands, std::size_t count) {
  double use = 0;
  for (std::size_t i = 0; i < count; ++i) use += demands[i].use();
  return use > 1 ? 1 / use : 1;
}

double WholeTurnsRate(const Demand* demands, std::size_t count) {
  Time busy = 0;
  Time shortest = kNever;
  Time longest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    busy += demands[i].busy;
    shortest = std::min(shortest, demands[i].alone());
    longest = std::max(longest, demands[i].alone());
  }
  if (count == 0) return 1;
  return static_cast<double>(shortest) / static_cast<double>(std::max(busy, longest));
}

std::uint32_t TurnsDue(const Demand& brief, const Demand& other, std::uint32_t iteration) {
  constexpr double kMost = 1e6;
  constexpr double kGoldenRatio = 0.61803398874989485;  // its multiples, modulo 1, are spread evenly
  const double due = std::min(kMost, static_cast<double>(other.alone()) / static_cast<double>(brief.alone()));
  const double whole = std::floor(due);
  const double draw = std::fmod(kGoldenRatio * iteration, 1.0);
  return static_cast<std::uint32_t>(whole) + (draw < due - whole ? 1 : 0);
}

}  // namespace crossover::turn
