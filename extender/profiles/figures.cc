#include "extender/profiles/figures.h"

#include <algorithm>
#include <cmath>

namespace crossover::extender {
namespace {

constexpr double kSureAfter = 1000;  // iterations after which more add no weight
constexpr double kFar = 0.25;        // of the mean

class Mean {
 public:
  void Add(double value, double weight) { sum_ += value * weight, weight_ += weight; }
  bool known() const { return weight_ > 0; }
  double value() const { return known() ? sum_ / weight_ : 0; }

 private:
  double sum_ = 0, weight_ = 0;
};

double Aged(double age_s, const ProfileSettings& settings) {
  return std::exp2(-std::max(age_s, 0.0) / settings.half_life_s);
}

double WeightOf(const ProfileRun& run, double newest_s, const ProfileSettings& settings) {
  const double sure = std::clamp(run.iterations / kSureAfter, 0.01, 1.0);
  return sure * (run.estimated ? 0.5 : 1) * Aged(newest_s - run.at_s, settings);
}

bool IsFar(double value, const Mean& mean) {
  return mean.known() && std::abs(value - mean.value()) > kFar * mean.value();
}

}  // namespace

ProfileFigures FiguresOf(const ProfileRecord& record, const ProfileSettings& settings) {
  const double newest_s = record.last_seen_s();
  Mean calm_compute, calm_exposed;
  for (const ProfileRun& run : record.runs) {
    if (run.disturbed || run.compute_s <= 0) continue;
    calm_compute.Add(run.compute_s, WeightOf(run, newest_s, settings));
    calm_exposed.Add(run.exposed_s, WeightOf(run, newest_s, settings));
  }
  ProfileFigures figures;
  Mean compute, exposed, jitter;
  for (const ProfileRun& run : record.runs) {
    figures.peak_memory = std::max(figures.peak_memory, run.peak_memory);
    if (run.at_s >= newest_s) figures.gpus = run.gpus;
    if (run.compute_s <= 0) continue;
    const bool far = IsFar(run.compute_s, calm_compute) || IsFar(run.exposed_s, calm_exposed);
    if (run.disturbed && far) continue;
    const double weight = WeightOf(run, newest_s, settings);
    compute.Add(run.compute_s, weight);
    exposed.Add(run.exposed_s, weight);
    jitter.Add(run.jitter, weight);
    ++figures.samples;
  }
  figures.compute_s = compute.value();
  figures.exposed_s = exposed.value();
  figures.jitter = jitter.value();
  return figures;
}

double GainOf(const ProfileMeeting& meeting, const ProfileSettings& settings) {
  double newest_s = 0;
  for (const ProfileGain& gain : meeting.gains) newest_s = std::max(newest_s, gain.at_s);
  Mean mean;
  for (const ProfileGain& gain : meeting.gains) mean.Add(gain.gain, Aged(newest_s - gain.at_s, settings));
  return mean.value();
}

}  // namespace crossover::extender
