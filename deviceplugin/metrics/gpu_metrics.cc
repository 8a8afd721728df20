#include "deviceplugin/metrics/gpu_metrics.h"

#include "common/metrics/families.h"

namespace crossover::deviceplugin {

using metrics::AddGauge;
using metrics::Family;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> GpuMetrics::Collect() const {
  MetricFamily busy =
      Family("crossover_gpu_nvml_utilization_ratio",
             "Part of the time in which anything ran on a GPU, also a collective that only waits, as "
             "the driver says.",
             MetricType::Gauge);
  MetricFamily used = Family("crossover_gpu_memory_used_bytes",
                             "Memory of a GPU that is in use, as the driver says.", MetricType::Gauge);
  MetricFamily total =
      Family("crossover_gpu_memory_total_bytes", "Memory of a GPU, as the driver says.", MetricType::Gauge);
  for (const auto& [uuid, usage] : look_()) {
    if (usage.busy) AddGauge(&busy, {{"gpu_uuid", uuid}}, *usage.busy);
    if (usage.memory_used) AddGauge(&used, {{"gpu_uuid", uuid}}, static_cast<double>(*usage.memory_used));
    if (usage.memory_total) AddGauge(&total, {{"gpu_uuid", uuid}}, static_cast<double>(*usage.memory_total));
  }
  return {std::move(busy), std::move(used), std::move(total)};
}

}  // namespace crossover::deviceplugin
