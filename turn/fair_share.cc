#include "turn/fair_share.h"

#include <algorithm>
#include <cmath>

namespace crossover::turn {

double FairRate(const Demand* demands, std::size_t count) {
  double use = 0;
  for (std::size_t i = 0; i < count; ++i) use += demands[i].use();
  return use > 1 ? 1 / use : 1;
}

bool WorthBreaking(const Demand& brief, const Demand& other, double fair) {
  constexpr double kLonger = 1.5;   // ratio of iterations
  constexpr double kBusier = 1.25;  // ratio of turns
  constexpr double kTolerated = 1.2;
  const auto alone = static_cast<double>(brief.alone());
  // `brief` is back and waits for the rest of the other client's turn.
  const double behind_whole_turn = alone + static_cast<double>(other.busy - brief.away);
  return static_cast<double>(other.alone()) > kLonger * alone &&
         static_cast<double>(other.busy) > kBusier * static_cast<double>(brief.busy) &&
         behind_whole_turn > kTolerated * alone / fair;
}

std::uint32_t TurnsWithin(const Demand& brief, const Demand& other, std::uint32_t iteration) {
  constexpr double kMost = 1e6;
  constexpr double kGoldenRatio = 0.61803398874989485;  // its multiples modulo 1 are evenly spread
  const auto brief_alone = static_cast<double>(brief.alone());
  const double due = std::min(kMost, static_cast<double>(other.alone()) / brief_alone);
  const double draw = std::fmod(kGoldenRatio * iteration, 1.0);
  const double turns = std::floor(due) + (draw < due - std::floor(due) ? 1 : 0);
  const double while_away = 1 + std::floor(static_cast<double>(other.away) / brief_alone);
  return static_cast<std::uint32_t>(std::max(0.0, turns - while_away));
}

}  // namespace crossover::turn
