// Exports to Prometheus how each GPU of the machine is used, as the driver reports it.
#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/nvml/library.h"

namespace crossover::deviceplugin {

class GpuMetrics : public prometheus::Collectable {
 public:
  using Usages = std::map<std::string, NvmlLibrary::Usage>;  // by UUID

  // The threads that serve metrics call `look`.
  explicit GpuMetrics(std::function<Usages()> look) : look_(std::move(look)) {}
  std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::function<Usages()> look_;
};

}  // namespace crossover::deviceplugin
