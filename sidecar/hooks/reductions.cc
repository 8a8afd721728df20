// Defines the function by which a library that compresses reductions reports to the arbiter. It finds the
// function by its name, and does without where there is none (proto/arbiter_protocol.h).

#include "proto/arbiter_protocol.h"
#include "sidecar/hooks/bootstrap.h"
#include "sidecar/session/session.h"

extern "C" {

[[gnu::visibility("default")]] void crossover_report_reductions(const crossover_reductions* report);

void crossover_report_reductions(const crossover_reductions* report) {
  if (report->header.bytes != sizeof *report || !crossover::hooks::Active()) return;
  crossover::session::TheSession().ReportReductions(*report);
}

}  // extern "C"
