// Quantiles of samples, as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crossover::bench {

// Nearest rank: a value that was seen. `samples` must not be empty.
std::int64_t Quantile(std::vector<std::int64_t> samples, double share);

// {"n": .., "p50": .., "p99": .., "max": ..} in microseconds, of samples in nanoseconds.
std::string SummaryUs(const std::vector<std::int64_t>& samples);

// A whole number from a program's argument; ends the process with code 2 and one line if it is none in [low,
// high].
std::int64_t Argument(const char* name, const char* text, std::int64_t low, std::int64_t high);

}  // namespace crossover::bench
