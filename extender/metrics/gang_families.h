// Writes the counts of gangs as Prometheus metrics.
#pragma once

#include <prometheus/metric_family.h>

#include <optional>
#include <vector>

#include "extender/gang/tally.h"

namespace crossover::extender {

// Returns the metrics of `tally` at `now_s`. Returns no metrics if `tally` is empty: a replica that does
// not lead does not know the gangs.
std::vector<prometheus::MetricFamily> GangFamilies(const std::optional<Tally>& tally, double now_s);

}  // namespace crossover::extender
