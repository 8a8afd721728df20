// Checks what must hold for the result of a reader of traces, whatever the text is.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include "benchmarks/placement/traces/job.h"

namespace crossover::fuzz {

inline bool Sound(const benchmarks::Job& job) {
  bool good = job.gpus >= 1 && !job.model.empty() && job.submit_s >= 0 && std::isfinite(job.length_s());
  good &= job.iterations > 0 && job.iteration_s > 0;
  for (const double stage : job.stage) good &= stage >= 0 && std::isfinite(stage);
  return good;
}

// Requires of a refusal that it is one line that begins with the file's name, "f".
template <typename Read>
void CheckRefusal(const Read& read) {
  try {
    read();
  } catch (const std::runtime_error& error) {
    const std::string_view said = error.what();
    if (said.substr(0, 2) != "f:" || said.find('\n') != said.npos) __builtin_trap();
  }
}

template <typename Read>
void CheckTrace(const Read& read) {
  CheckRefusal([&] {
    const benchmarks::Trace trace = read();
    std::set<int> ids;
    for (const benchmarks::Job& job : trace.jobs) {
      if (!Sound(job) || !ids.insert(job.id).second) __builtin_trap();
    }
    if (!std::ranges::is_sorted(trace.jobs, {}, &benchmarks::Job::submit_s)) __builtin_trap();
  });
}

}  // namespace crossover::fuzz
