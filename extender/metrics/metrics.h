// Collects the extender's metrics and writes them for Prometheus. Thread-safe.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "extender/admission/webhook.h"
#include "extender/scheduler/verbs.h"

namespace crossover::extender {

class Metrics : public VerbObserver, public admission::Count {
 public:
  Metrics();

  void OnAnswered(std::string_view verb, std::string_view outcome, double seconds) override;
  void Add(admission::Outcome outcome) override;
  void Took(double seconds) override;

  // Add a metric whose value is read at each scrape. `help` ends without a full stop: Text() adds it.
  void Gauge(const std::string& name, const std::string& help, std::function<double()> value);
  void Counter(const std::string& name, const std::string& help, std::function<double()> value);

  // Adds metrics that are collected at each scrape.
  void Families(std::function<std::vector<prometheus::MetricFamily>()> families);

  // Returns all metrics in Prometheus' text format.
  std::string Text() const;

 private:
  struct Read {
    std::string name, help;
    prometheus::MetricType type;
    std::function<double()> value;
  };

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Histogram>* const latencies_;
  prometheus::Family<prometheus::Counter>* const admissions_;
  prometheus::Histogram* const reviews_;
  mutable std::mutex mutex_;
  std::vector<Read> reads_;
  std::vector<std::function<std::vector<prometheus::MetricFamily>()>> families_;
};

}  // namespace crossover::extender
