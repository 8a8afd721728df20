// Builds Prometheus metric families by hand. Metrics that are computed when they are scraped need no
// registry.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <string>
#include <utility>
#include <vector>

namespace crossover::metrics {

using Labels = std::vector<prometheus::ClientMetric::Label>;

// Returns a family without values. `help` is a sentence.
inline prometheus::MetricFamily Family(std::string name, std::string help, prometheus::MetricType type) {
  return {.name = std::move(name), .help = std::move(help), .type = type, .metric = {}};
}

// Add a value with its labels. REQUIRES: the family has that type.
inline void AddCounter(prometheus::MetricFamily* family, Labels labels, double value) {
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  metric.label = std::move(labels);
  metric.counter.value = value;
}

inline void AddGauge(prometheus::MetricFamily* family, Labels labels, double value) {
  prometheus::ClientMetric& metric = family->metric.emplace_back();
  metric.label = std::move(labels);
  metric.gauge.value = value;
}

// Returns a family with one value and no labels.
inline prometheus::MetricFamily Single(std::string name, std::string help, prometheus::MetricType type,
                                       double value) {
  prometheus::MetricFamily family = Family(std::move(name), std::move(help), type);
  (type == prometheus::MetricType::Counter ? AddCounter : AddGauge)(&family, {}, value);
  return family;
}

}  // namespace crossover::metrics
