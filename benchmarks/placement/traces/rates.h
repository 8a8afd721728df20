// Reads how fast jobs go alone: Gavel's measurements (github.com/stanford-futuredata/gavel,
// *_throughputs.json).
//
// JSON: kind of GPU -> "('MODEL', GPUS)" -> what runs beside it -> steps per second. Only rates with nothing
// beside the job ("null") are read. 0 there means that it was not measured.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace crossover::benchmarks {

// Holds steps per second by model and GPU count.
using Rates = std::map<std::pair<std::string, int>, double>;

// Parses the rates of one kind of GPU, such as "v100". Throws std::runtime_error that names `file`, key,
// what is expected and the value.
Rates ParseRates(std::string_view json, const std::string& file, const std::string& kind);

}  // namespace crossover::benchmarks
