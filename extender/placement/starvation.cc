#include "extender/placement/starvation.h"

#include <algorithm>

namespace crossover::placement {

double Patience::Of(const Gang& gang) const {
  const double part = std::min(1.0, static_cast<double>(gang.gpus()) / node_gpus);
  return std::max(least_s, runs_s * part);
}

Patience PatienceOf(const State& state, double now_s, const Settings& settings) {
  double gpus = 0, ran_s = 0;
  for (const Placed& placed : state.placed) {
    if (!placed.started_s) continue;
    gpus += placed.gang.gpus();
    ran_s += placed.gang.gpus() * std::max(0.0, now_s - *placed.started_s);
  }
  Patience patience{.least_s = settings.starvation_s};
  if (gpus > 0) patience.runs_s = settings.starvation_runs * ran_s / gpus;
  for (const Node& node : state.nodes) {
    patience.node_gpus = std::max(patience.node_gpus, static_cast<int>(node.gpus.size()));
  }
  return patience;
}

double BusyPart(double waited_s, double patience_s) {
  if (patience_s <= 0) return 1;
  return std::clamp((waited_s / patience_s - 1) / 2, 0.0, 1.0);
}

}  // namespace crossover::placement
