// Converts times of turns to the unit of metrics.
#pragma once

#include "turn/timing_model.h"

namespace crossover::deviceplugin {

inline double Seconds(turn::Time time) { return static_cast<double>(time) * 1e-9; }

}  // namespace crossover::deviceplugin
