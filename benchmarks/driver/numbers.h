// Computes quantiles of samples, prints them as JSON, and parses arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace crossover::bench {

// Returns a quantile by the nearest-rank method, so the result is one of the samples. `share` is from 0 to
// 1. REQUIRES: `samples` is not empty.
std::int64_t Quantile(std::vector<std::int64_t> samples, double share);

// Returns {"n": .., "p50": .., "p99": .., "max": ..}, in microseconds. The samples are in nanoseconds.
std::string SummaryUs(const std::vector<std::int64_t>& samples);

// Parses `text`, the program's argument `name`, as a whole number. Ends the process with code 2 and one
// line on standard error unless it is a number in [low, high].
std::int64_t Argument(const char* name, const char* text, std::int64_t low, std::int64_t high);

// Says in one line on standard error which arguments `program` expects and which it got. Returns the exit
// code, 2.
int RefuseArguments(const char* program, const char* expected, std::span<char* const> got);

}  // namespace crossover::bench
