// Plans what `crossover run` changes for the command that it starts. Looks whether files exist and whether a
// daemon listens on the socket, and changes nothing.
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
  std::string size;          // the option's text, a number
  std::string priority;      // high, normal, low; empty: the environment decides
  std::string max_slowdown;  // empty: the environment decides
  std::string gpu_memory;    // empty: the environment decides
  std::string socket;        // empty: $CROSSOVER_SOCKET, else the default
  std::string library;       // empty: the one beside the program
  std::vector<std::string> command;
};

struct RunPlan {
  std::map<std::string, std::string> environment;  // variables to set
  std::vector<std::string> warnings;               // one line each
};

struct RunError {
  std::string text;  // the option, what is expected and its value
};

// Maps the names of environment variables to their values.
using Environment = std::map<std::string, std::string>;

// Returns the plan, or why the options are refused.
std::variant<RunPlan, RunError> PlanRun(const RunOptions& options, const Environment& environment,
                                        const std::string& program_directory);

// Returns the path of libcrossover.so, searched from the directory of this program, or nothing.
std::optional<std::string> FindLibrary(const std::string& program_directory);

// Returns a value of LD_PRELOAD with `library` before the files in `present`. It has `library` only once.
std::string Preload(const std::string& library, std::string_view present);

}  // namespace crossover::cli
