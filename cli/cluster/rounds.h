// Shows an answer about a cluster once, or again and again.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/cluster/output.h"

namespace crossover::cli {

struct Showing {
  Format format = Format::kText;
  std::optional<double> watch_s;  // again each so many seconds, whatever a round comes to
};

struct Answer {
  nlohmann::json value;
  std::string text;  // the same for people
  std::string note;  // what else there is to say, on standard error
  int code = 0;
};

// The exit code of `command`: its answer's; 1 where `ask` has none, and says why, or nobody reads what is
// printed. Only the last ends what goes on again and again.
int ShowRounds(const char* command, const Showing& showing,
               const std::function<std::optional<Answer>(std::string* error)>& ask);

}  // namespace crossover::cli
