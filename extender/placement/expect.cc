#include "extender/placement/expect.h"

#include <algorithm>
#include <array>

namespace crossover::placement {
namespace {

// Returns measured over predicted gain of the worst pair that met. It is at most 1, and 1 if no pair met.
double WorstOfPairs(std::span<const Gang* const> gangs, bool spans, const History& history,
                    const Settings& settings) {
  double worst = 1;
  for (std::size_t a = 0; a < gangs.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double seen = history.GainOf(*gangs[a], *gangs[b]);
      if (seen <= 0) continue;
      const std::array pair{gangs[a], gangs[b]};
      worst = std::min(worst, seen / Predict(pair, spans, settings.efficiency).gain);
    }
  }
  return worst;
}

}  // namespace

Prediction Expect(std::span<const Gang* const> gangs, bool spans, const History& history,
                  const Settings& settings) {
  if (gangs.size() > 2 && !history.empty()) {
    const double worst = WorstOfPairs(gangs, spans, history, settings);
    return Predict(gangs, spans, settings.efficiency * worst);
  }
  Prediction predicted = Predict(gangs, spans, settings.efficiency);
  if (gangs.size() != 2) return predicted;
  const double seen = history.GainOf(*gangs[0], *gangs[1]);
  if (seen <= 0) return predicted;
  Prediction found = Predict(gangs, spans, std::min(1.0, settings.efficiency * seen / predicted.gain));
  found.gain = seen;
  found.met = true;
  return found;
}

}  // namespace crossover::placement
