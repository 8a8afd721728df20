#include "deviceplugin/profiles/job_profile.h"

#include <algorithm>

namespace crossover::deviceplugin {
namespace {

template <class T>
bool Replaces(const Measurement<T>& fresh, const std::optional<Measurement<T>>& known, turn::Time since) {
  return !known || known->at < since || known->value < fresh.value;
}

template <class T>
void LearnMeasurement(const std::optional<Measurement<T>>& fresh, turn::Time since,
                      std::optional<Measurement<T>>* known) {
  if (fresh && Replaces(*fresh, *known, since)) *known = fresh;
}

void LearnStep(const std::optional<Measurement<turn::Time>>& fresh, turn::Time since,
               std::optional<Measurement<turn::Time>>* known) {
  if (!fresh || fresh->source == MeasurementSource::kRemembered) return;
  const bool estimated = fresh->source == MeasurementSource::kEstimated;
  const bool was_estimated = *known && (*known)->source == MeasurementSource::kEstimated;
  if (*known && estimated && !was_estimated) return;
  if (!estimated && was_estimated) known->reset();
  LearnMeasurement(fresh, since, known);
}

}  // namespace

turn::Time JobProfile::newest() const {
  turn::Time newest = -turn::kNever;
  const auto look = [&newest](const auto& figure) {
    if (figure) newest = std::max(newest, figure->at);
  };
  look(step_alone);
  look(compute);
  look(away);
  look(jitter);
  look(peak_memory);
  if (disturbed) newest = std::max(newest, *disturbed);
  return newest;
}

turn::Demand JobProfile::demand() const {
  if (!compute || !away) return {};
  return {.busy = compute->value, .away = away->value};
}

void Learn(const JobProfile& fresh, turn::Time since, JobProfile* known) {
  LearnStep(fresh.step_alone, since, &known->step_alone);
  if (fresh.compute && Replaces(*fresh.compute, known->compute, since)) {
    known->compute = fresh.compute;
    known->away = fresh.away;
  }
  LearnMeasurement(fresh.jitter, since, &known->jitter);
  LearnMeasurement(fresh.peak_memory, since, &known->peak_memory);
  if (fresh.disturbed)
    known->disturbed = std::max(*fresh.disturbed, known->disturbed.value_or(*fresh.disturbed));
}

}  // namespace crossover::deviceplugin
