// What `crossover run` changes for the command it starts. Pure but for looking whether files are there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crossover::cli {

struct RunOptions {
  std::string gang;
  std::string size;          // as given: a number
  std::string priority;      // high, normal, low; empty: as the environment says
  std::string max_slowdown;  // likewise
  std::string gpu_memory;    // likewise
  std::string socket;        // empty: $CROSSOVER_SOCKET, else the default one
  std::string library;       // empty: found beside the program
  std::vector<std::string> command;
};

struct RunPlan {
  std::map<std::string, std::string> environment;  // variables to set
  std::vector<std::string> warnings;               // a line each
};

struct RunError {
  std::string text;  // option, value and what is allowed
};

// `getenv`-like look-ups of the present environment.
using Environment = std::map<std::string, std::string>;

std::variant<RunPlan, RunError> PlanRun(const RunOptions& options, const Environment& environment,
                                        const std::string& program_directory);

// Where libcrossover.so is, seen from the directory of this program.
std::optional<std::string> FindLibrary(const std::string& program_directory);

// `library` in front of what is preloaded already; once, however often it is put there.
std::string Preload(const std::string& library, std::string_view present);

}  // namespace crossover::cli
