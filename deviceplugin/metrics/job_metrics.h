// Exports to Prometheus what sharing costs and gains each job: the figures of sharing_figures.h. A series
// exists while its figure is known.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <utility>
#include <vector>

#include "deviceplugin/stats/snapshots.h"

namespace crossover::deviceplugin {

class JobMetrics : public prometheus::Collectable {
 public:
  // `look` is StatsStore::Gpus. The threads that serve metrics call it.
  explicit JobMetrics(std::function<std::vector<GpuView>()> look) : look_(std::move(look)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<std::vector<GpuView>()> look_;
};

}  // namespace crossover::deviceplugin
