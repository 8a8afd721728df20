#include "common/gains/place.h"

#include <algorithm>

namespace crossover::gains {

double GainOfPlace(double compute_s, double exposed_s, double uplink_s, double least_s) {
  const double wait_s = std::max(exposed_s - (uplink_s - least_s), 0.0);
  return (compute_s + exposed_s) / (compute_s + wait_s);
}

}  // namespace crossover::gains
