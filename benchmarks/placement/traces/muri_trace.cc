#include "benchmarks/placement/traces/muri_trace.h"

#include <algorithm>
#include <set>

#include "benchmarks/placement/traces/table.h"

namespace crossover::benchmarks {
namespace {

constexpr double kPerSecond = 1000;  // milliseconds

Job JobOf(const Row& row) {
  Job job;
  job.id = row.Whole("job_id", 0);
  job.gpus = row.Whole("num_gpu", 1, kMostGpus);
  job.model = row.Text("model_name");
  job.submit_s = row.Number("submit_time", 0) / kPerSecond;
  job.iterations = row.Number("iterations", 1);
  job.iteration_s = row.Number("iteration_time", 0.001) / kPerSecond;
  for (std::size_t i = 0; i < job.stage.size(); ++i) {
    job.stage[i] = row.Number("resource_time_" + std::to_string(i), 0) / kPerSecond;
  }
  return job;
}

}  // namespace

Trace ParseMuri(std::istream& text, const std::string& file) {
  Trace trace;
  std::set<int> ids;
  EachRow(text, file, ',', {}, [&](const Row& row) {
    trace.jobs.push_back(JobOf(row));
    if (!ids.insert(trace.jobs.back().id).second) row.Refuse("job_id", "one that no earlier line has");
  });
  std::ranges::stable_sort(trace.jobs, {}, &Job::submit_s);
  return trace;
}

}  // namespace crossover::benchmarks
