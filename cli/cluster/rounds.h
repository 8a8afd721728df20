// Shows an answer about a cluster once or repeatedly.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/cluster/output.h"

namespace crossover::cli {

struct Showing {
  Format format = Format::kText;
  std::optional<double> watch_s;  // seconds from one round to the next, failed or not; empty: one round
};

struct Answer {
  nlohmann::json value;
  std::string text;  // the answer as text, for people
  std::string note;  // further remarks, for standard error
  int code = 0;
};

// Calls `ask` and prints its answer, once or every `watch_s` seconds. Returns the exit code of `command`:
// that of the answer, or 1 if `ask` returns nothing (its error is then printed) or the output cannot be
// written. With `watch_s` only a failed write ends the rounds.
int ShowRounds(const char* command, const Showing& showing,
               const std::function<std::optional<Answer>(std::string* error)>& ask);

}  // namespace crossover::cli
