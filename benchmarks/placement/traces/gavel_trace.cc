#include "benchmarks/placement/traces/gavel_trace.h"

#include <algorithm>
#include <optional>

#include "benchmarks/placement/traces/table.h"

namespace crossover::benchmarks {
namespace {

std::optional<Job> JobOf(const Row& row, const Rates& rates) {
  Job job;
  job.id = row.line();
  job.gpus = row.Whole("scale_factor", 1, kMostGpus);
  job.model = row.Text("job_type");
  job.submit_s = row.Number("arrival_time", 0);
  const double steps = row.Number("total_steps", 1);
  const auto on_one = rates.find({job.model, 1}), on_all = rates.find({job.model, job.gpus});
  if (on_one == rates.end() || on_all == rates.end()) return std::nullopt;
  job.iterations = steps / job.gpus;
  job.iteration_s = job.gpus / on_all->second;
  const double compute_s = std::min(1 / on_one->second, job.iteration_s);
  job.stage = {0, compute_s, job.iteration_s - compute_s};
  return job;
}

}  // namespace

Trace ParseGavel(std::istream& text, const std::string& file, const Rates& rates) {
  Trace trace;
  EachRow(text, file, '\t',
          {"job_type", "command", "num_steps_arg", "needs_data_dir", "total_steps", "arrival_time",
           "scale_factor"},
          [&](const Row& row) {
            if (const std::optional<Job> job = JobOf(row, rates)) {
              trace.jobs.push_back(*job);
            } else {
              ++trace.left_out;
            }
          });
  std::ranges::stable_sort(trace.jobs, {}, &Job::submit_s);
  return trace;
}

}  // namespace crossover::benchmarks
