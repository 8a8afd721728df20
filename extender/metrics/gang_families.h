// What is counted of gangs, as metrics.
#pragma once

#include <prometheus/metric_family.h>

#include <optional>
#include <vector>

#include "extender/gang/tally.h"

namespace crossover::extender {

// `tally`: nothing where the replica does not lead; then nothing is shown, for it does not know.
std::vector<prometheus::MetricFamily> GangFamilies(const std::optional<Tally>& tally, double now_s);

}  // namespace crossover::extender
