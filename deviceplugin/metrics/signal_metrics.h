// Exports to Prometheus what the arbiter counts of signals.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <utility>
#include <vector>

#include "deviceplugin/signals/figures.h"

namespace crossover::deviceplugin {

class SignalMetrics : public prometheus::Collectable {
 public:
  // The threads that serve metrics call `look`.
  explicit SignalMetrics(std::function<signals::ByGpu()> look) : look_(std::move(look)) {}
  // Returns nothing for a daemon without signals.
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<signals::ByGpu()> look_;
};

}  // namespace crossover::deviceplugin
