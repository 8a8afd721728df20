#include "extender/placement/patience.h"

#include <algorithm>

namespace crossover::placement {

double PatienceOf(const State& state, double now_s, const Settings& settings) {
  double gpus = 0, ran_s = 0;
  for (const Placed& placed : state.placed) {
    if (!placed.started_s) continue;
    gpus += placed.gang.gpus();
    ran_s += placed.gang.gpus() * std::max(0.0, now_s - *placed.started_s);
  }
  const double mean_s = gpus > 0 ? ran_s / gpus : 0;
  return std::max(settings.starvation_s, settings.starvation_runs * mean_s);
}

double BusyPart(double waited_s, double patience_s) {
  if (patience_s <= 0) return 1;
  return std::clamp((waited_s / patience_s - 1) / 2, 0.0, 1.0);
}

}  // namespace crossover::placement
