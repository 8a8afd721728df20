#include "cli/run/run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "cli/run/self.h"

namespace crossover::cli {

int Run(const RunOptions& options) {
  const auto result = PlanRun(options, ReadEnvironment(), ProgramDirectory());
  if (const auto* error = std::get_if<RunError>(&result)) {
    std::fprintf(stderr, "crossover run: %s\n", error->text.c_str());
    return 2;
  }
  const RunPlan& plan = std::get<RunPlan>(result);
  for (const std::string& warning : plan.warnings)
    std::fprintf(stderr, "crossover run: %s\n", warning.c_str());
  for (const auto& [name, value] : plan.environment) setenv(name.c_str(), value.c_str(), 1);

  std::vector<char*> arguments;
  for (const std::string& argument : options.command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int failure = errno;
  std::fprintf(stderr, "crossover run: %s: %s\n", arguments[0], std::strerror(failure));
  return failure == ENOENT ? 127 : 126;
}

}  // namespace crossover::cli
