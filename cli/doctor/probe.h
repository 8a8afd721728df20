// Looks at the machine for the doctor.
#pragma once

#include "cli/doctor/doctor.h"
#include "cli/doctor/facts.h"

namespace crossover::cli {

// Returns the facts. Changes nothing on the machine, but starts one short process.
Facts Probe(const DoctorOptions& options);

}  // namespace crossover::cli
