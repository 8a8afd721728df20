// Exports to Prometheus which reductions of clients are compressed, and why others are plain. It computes
// the series at each scrape. Those of a client exist only if its owner asks for compressed reductions.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <utility>
#include <vector>

#include "deviceplugin/stats/snapshots.h"

namespace crossover::deviceplugin {

class ReductionMetrics : public prometheus::Collectable {
 public:
  // The metrics server's threads call `look`.
  explicit ReductionMetrics(std::function<std::vector<ReductionsView>()> look) : look_(std::move(look)) {}

  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<std::vector<ReductionsView>()> look_;
};

}  // namespace crossover::deviceplugin
