// Looks at the machine. Changes nothing on it; starts one process, for a moment.
#pragma once

#include "cli/doctor/doctor.h"
#include "cli/doctor/facts.h"

namespace crossover::cli {

Facts Probe(const DoctorOptions& options);

}  // namespace crossover::cli
