// Makes a profile that has every figure.
#pragma once

#include "deviceplugin/profiles/job_profile.h"

namespace crossover::deviceplugin {

inline JobProfile Sample(const std::string& gang, turn::Time at = 0, std::uint32_t uid = 1000) {
  return {.job = {.gang = gang, .uid = uid, .size = 4},
          .step_alone = {{32'123'457, at, MeasurementSource::kMeasured}},
          .compute = {{20'000'001, at, MeasurementSource::kTurns}},
          .away = {{12'000'000, at, MeasurementSource::kTurns}},
          .jitter = {{0.0512345, at, MeasurementSource::kTurns}},
          .peak_memory = {{(1ULL << 36) + 1, at, MeasurementSource::kNvml}},
          .disturbed = at};
}

}  // namespace crossover::deviceplugin
