// Exports the version of the program as a metric.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "common/metrics/families.h"

namespace crossover::metrics {

class BuildInfo : public prometheus::Collectable {
 public:
  explicit BuildInfo(std::string version) : version_(std::move(version)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    prometheus::MetricFamily family =
        Family("crossover_build_info", "Always 1; the label version says which version of the program runs.",
               prometheus::MetricType::Gauge);
    AddGauge(&family, {{"version", version_}}, 1);
    return {family};
  }

 private:
  const std::string version_;
};

}  // namespace crossover::metrics
