// Parses the command line of the job model, which is a list of KEY=VALUE. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tests/unit/turn/job_model.h"

namespace crossover::turn::test {

struct JobModelArguments {
  JobModelOptions options;  // without its iterations and the caps of its jobs
  double seconds = 10;
  bool whole = false;        // rates count from the jobs' meeting on, not the second half alone
  std::vector<double> caps;  // caps of the first jobs
  int gpus_here = 0;         // GPUs that the reporting daemon sees; 0: all
};

// Returns the arguments, or an error that names the key, its value and what is expected. An option that
// belongs to jobs (width, tail, batch) belongs to all of them, wherever it stands.
std::variant<JobModelArguments, std::string> ParseJobModelArguments(std::span<const std::string_view> texts);

// Returns one line for each key: what it takes and what it means.
std::string JobModelUsage();

}  // namespace crossover::turn::test
