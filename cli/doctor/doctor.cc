#include "cli/doctor/doctor.h"

#include "cli/doctor/checks.h"
#include "cli/doctor/probe.h"
#include "cli/render/print.h"

namespace crossover::cli {

int Doctor(const DoctorOptions& options) {
  const std::vector<Finding> findings = Examine(Probe(options));
  const std::string text = options.json ? ReportJson(findings) : ReportText(findings);
  if (!Print(text)) return 1;
  return ExitCode(findings);
}

}  // namespace crossover::cli
