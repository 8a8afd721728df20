// The command line of the job model, KEY=VALUE each. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/unit/turn/job_model.h"

namespace crossover::turn::test {

struct JobModelArguments {
  JobModelOptions options;  // but for its iterations and the caps of its jobs
  double seconds = 10;
  bool whole = false;        // rates count from the jobs' meeting on, not the second half alone
  std::vector<double> caps;  // of the first jobs
};

// The error names the key, its value and what is expected. Where an option belongs to jobs (width, tail,
// batch) it belongs to all of them, wherever it stands.
std::variant<JobModelArguments, std::string> ParseJobModelArguments(std::span<const std::string_view> texts);

// One line for each key: what it takes and what it means.
std::string JobModelUsage();

}  // namespace crossover::turn::test
