#include "extender/metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <utility>

#include "common/metrics/families.h"

namespace crossover::extender {
namespace {

// Returns the bounds of the buckets in seconds. A verb that decides takes tenths of a millisecond; a bind
// may be held for half a minute.
const prometheus::Histogram::BucketBoundaries& Buckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {0.0002, 0.0005, 0.001, 0.002, 0.004, 0.008,
                                                                  0.016,  0.05,   0.25,  1,     5,     30};
  return buckets;
}

}  // namespace

Metrics::Metrics()
    : latencies_(&prometheus::BuildHistogram()
                      .Name("crossover_extender_answer_seconds")
                      .Help("How long a scheduler waited for an answer, by verb and outcome.")
                      .Register(registry_)),
      admissions_(
          &prometheus::BuildCounter()
               .Name("crossover_extender_admissions_total")
               .Help("Requests that the webhook answered, but for dry runs, by what became of the pod.")
               .Register(registry_)),
      reviews_(&prometheus::BuildHistogram()
                    .Name("crossover_extender_admission_seconds")
                    .Help("How long the webhook took to answer a review of the API server.")
                    .Register(registry_)
                    .Add({}, Buckets())) {
  for (const auto outcome :
       {admission::Outcome::kUntouched, admission::Outcome::kRewritten, admission::Outcome::kLeftAlone,
        admission::Outcome::kRefused, admission::Outcome::kNotReady, admission::Outcome::kUnpatchable,
        admission::Outcome::kMalformed})
    admissions_->Add({{"outcome", NameOf(outcome)}});  // outcomes that never happened are exported as 0
}

void Metrics::OnAnswered(std::string_view verb, std::string_view outcome, double seconds) {
  latencies_->Add({{"verb", std::string(verb)}, {"outcome", std::string(outcome)}}, Buckets())
      .Observe(seconds);
}

void Metrics::Add(admission::Outcome outcome) {
  admissions_->Add({{"outcome", NameOf(outcome)}}).Increment();
}

void Metrics::Took(double seconds) { reviews_->Observe(seconds); }

void Metrics::Gauge(const std::string& name, const std::string& help, std::function<double()> value) {
  const std::lock_guard lock(mutex_);
  reads_.push_back({name, help, prometheus::MetricType::Gauge, std::move(value)});
}

void Metrics::Counter(const std::string& name, const std::string& help, std::function<double()> value) {
  const std::lock_guard lock(mutex_);
  reads_.push_back({name, help, prometheus::MetricType::Counter, std::move(value)});
}

void Metrics::Families(std::function<std::vector<prometheus::MetricFamily>()> families) {
  const std::lock_guard lock(mutex_);
  families_.push_back(std::move(families));
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families = registry_.Collect();
  const std::lock_guard lock(mutex_);
  for (const Read& read : reads_)
    families.push_back(metrics::Single(read.name, read.help + ".", read.type, read.value()));
  for (const auto& more : families_) {
    for (prometheus::MetricFamily& family : more()) families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace crossover::extender
