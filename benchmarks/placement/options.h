// What placement_trace was asked for on its command line.
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
  std::string jobs;       // where a line per job goes; empty: nowhere
  std::string occupancy;  // where a line per change of what is held goes; empty: nowhere
  Cluster cluster;
  int slots = placement::Gpu{}.slots;  // of each GPU, for the engine as it ships
  placement::Settings settings;
  Failing failing;
  std::uint64_t seed = 1;              // of what policies leave to chance
  std::optional<std::uint64_t> shake;  // by this seed the trace is shaken (shake.h)
};

// Throws std::runtime_error that names what is wrong, and the usage.
Options OptionsOf(int argc, const char* const* argv);

std::unique_ptr<Policy> PolicyOf(const Options& options);

}  // namespace crossover::benchmarks
