// Checks what the daemon knows. The verdict of each is kUnknown if the daemon was not asked. checks.cc uses
// them.
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
