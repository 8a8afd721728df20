#include "benchmarks/placement/traces/read.h"

#include <iterator>
#include <stdexcept>

#include "benchmarks/placement/traces/gavel_trace.h"
#include "benchmarks/placement/traces/muri_trace.h"
#include "benchmarks/placement/traces/philly_trace.h"
#include "benchmarks/placement/traces/table.h"
#include "common/base/refusal.h"

namespace crossover::benchmarks {
namespace {

Trace ReadGavel(std::istream& text, const Source& source) {
  if (source.throughputs.empty())
    throw std::runtime_error(base::Refusal("format gavel", "--throughputs=FILE.json", "none"));
  std::ifstream file = Opened(source.throughputs);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  return ParseGavel(text, source.path, ParseRates(json, source.throughputs, source.gpu));
}

Trace ReadPhilly(std::istream& text, const Source& source) {
  if (source.placements.empty())
    throw std::runtime_error(base::Refusal("format philly", "--placements=DIRECTORY", "none"));
  ModelSteps steps;
  for (const PhillyModel& model : PhillyModels()) {
    const std::string path = source.placements + "/simulator_traces_" + model.name + "_placements.csv";
    std::ifstream file = Opened(path);
    steps[model.name] = ParseSteps(file, path, model.batch);
  }
  return ParsePhilly(text, source.path, steps, source.clusters);
}

Trace ReadAny(std::istream& text, const Source& source) {
  if (source.format == "muri") return ParseMuri(text, source.path);
  if (source.format == "gavel") return ReadGavel(text, source);
  if (source.format == "philly") return ReadPhilly(text, source);
  throw std::runtime_error(base::Refusal("format", "muri, gavel or philly", source.format));
}

}  // namespace

Trace ReadTrace(const Source& source) {
  std::ifstream file = Opened(source.path);
  Trace trace = ReadAny(file, source);
  if (trace.jobs.empty())
    throw std::runtime_error(source.path + ": no job, but for " + std::to_string(trace.left_out) +
                             " left out");
  return trace;
}

}  // namespace crossover::benchmarks
