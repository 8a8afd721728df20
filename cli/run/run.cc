#include "cli/run/run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

extern char** environ;  // NOLINT: POSIX's own declaration

namespace crossover::cli {
namespace {

Environment ReadEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::string ProgramDirectory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

}  // namespace

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
