#include "cli/doctor/doctor.h"

#include <cstdio>

#include "cli/doctor/checks.h"
#include "cli/doctor/probe.h"

namespace crossover::cli {

int Doctor(const DoctorOptions& options) {
  const std::vector<Finding> findings = Examine(Probe(options));
  const std::string text = options.json ? ReportJson(findings) : ReportText(findings);
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return 1;
  return ExitCode(findings);
}

}  // namespace crossover::cli
