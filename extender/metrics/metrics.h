// What the extender counts, and how it is asked for it. Thread-safe.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "extender/admission/webhook.h"
#include "extender/scheduler/verbs.h"

namespace crossover::extender {

class Metrics : public VerbObserver, public admission::Count {
 public:
  Metrics();

  void OnAnswered(std::string_view verb, std::string_view outcome, double seconds) override;
  void Add(admission::Outcome outcome) override;

  // Read whenever somebody asks. `help` ends without a full stop.
  void Gauge(const std::string& name, const std::string& help, std::function<double()> value);
  void Counter(const std::string& name, const std::string& help, std::function<double()> value);

  // All of it, in Prometheus' text format.
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
  mutable std::mutex mutex_;
  std::vector<Read> reads_;
};

}  // namespace crossover::extender
