// Parses the command line of placement_trace.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "benchmarks/placement/failures.h"
#include "benchmarks/placement/policies.h"
#include "benchmarks/placement/traces/read.h"

namespace crossover::benchmarks {

struct Options {
  Source source;
  std::string policy;
  std::string jobs;       // path of a file with a line per job; empty: none is written
  std::string occupancy;  // path of a file with a line per change of what is held; empty: none is written
  Cluster cluster;
  int slots = placement::Gpu{}.slots;  // per GPU, for the engine as it ships
  placement::Settings settings;
  Failing failing;
  std::uint64_t seed = 1;              // of the random choices of policies
  std::optional<std::uint64_t> shake;  // the seed by which the trace is shaken (shake.h)
};

// Throws std::runtime_error that names what is wrong, and the usage.
Options OptionsOf(int argc, const char* const* argv);

// Makes the policy that the options name. Throws std::runtime_error where there is none of that name.
std::unique_ptr<Policy> PolicyOf(const Options& options);

}  // namespace crossover::benchmarks
