// How fast jobs go alone: Gavel's measurements (github.com/stanford-futuredata/gavel, *_throughputs.json).
//
// JSON: kind of GPU -> "('MODEL', GPUS)" -> what runs beside it -> steps per second. Only what goes beside
// nothing
// ("null") is read; 0 there means that it was not measured.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace crossover::benchmarks {

// Steps per second by model and GPU count.
using Rates = std::map<std::pair<std::string, int>, double>;

// Of one kind of GPU, such as "v100". std::runtime_error names `file`, key, value and what is allowed.
Rates ParseRates(std::string_view json, const std::string& file, const std::string& kind);

}  // namespace crossover::benchmarks
