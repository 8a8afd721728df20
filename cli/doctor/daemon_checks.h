// Declares the checks of what the daemon knows, for checks.cc. Each returns kUnknown if the daemon did not
// answer. Pure.
#pragma once

#include "cli/doctor/checks.h"

namespace crossover::cli {

Finding DaemonMode(const Facts& facts);
Finding JobsTakeTurns(const Facts& facts);
Finding JobsHavePeriods(const Facts& facts);
Finding Offenders(const Facts& facts);
Finding WatchdogOpenings(const Facts& facts);
Finding ClientFaults(const Facts& facts);
Finding DaemonRestarts(const Facts& facts);
Finding DroppedEvents(const Facts& facts);

}  // namespace crossover::cli
