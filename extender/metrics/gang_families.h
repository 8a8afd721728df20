// Writes the counts of gangs as Prometheus metrics.
#pragma once

#include <prometheus/metric_family.h>

#include <optional>
#include <vector>

#include "extender/gang/gang_stats.h"

namespace crossover::extender {

// Returns the metrics of `stats` at `now_s`. Returns no metrics if `stats` is empty: a replica that does
// not lead does not know the gangs.
std::vector<prometheus::MetricFamily> GangFamilies(const std::optional<GangStats>& stats, double now_s);

}  // namespace crossover::extender
