// placement_trace TRACE.csv POLICY [OPTIONS]: one JSON line, what the policy makes of the trace.
#include <cstdio>
#include <exception>
#include <fstream>

#include "benchmarks/placement/options.h"
#include "benchmarks/placement/simulate.h"

namespace crossover::benchmarks {
namespace {

void WriteJobs(const Outcome& outcome, const std::string& path) {
  std::ofstream file(path);
  file << "job_id,num_gpu,submit_s,start_s,end_s,length_s,restarts\n";
  for (const Ended& e : outcome.jobs) {
    file << e.job->id << ',' << e.job->gpus << ',' << e.job->submit_s << ',' << e.start_s << ',' << e.end_s
         << ',' << e.job->length_s() << ',' << e.restarts << '\n';
  }
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

void Print(const Options& options, const Outcome& outcome) {
  std::printf("{\"policy\": \"%s\", \"jobs\": %zu, \"completion_s\": %.3f, \"makespan_s\": %.3f, ",
              options.policy.c_str(), outcome.jobs.size(), outcome.mean_completion_s(), outcome.makespan_s());
  std::printf("\"slowdown\": %.4f, \"slowdown_p50\": %.4f, \"slowdown_p99\": %.4f, ", outcome.mean_slowdown(),
              outcome.Quantile(0.5, &Ended::slowdown), outcome.Quantile(0.99, &Ended::slowdown));
  std::printf("\"wait_s\": %.3f, \"wait_s_p99\": %.3f, \"longest_wait_s\": %.3f, ",
              outcome.Mean(&Ended::wait_s), outcome.Quantile(0.99, &Ended::wait_s),
              outcome.Quantile(1, &Ended::wait_s));
  std::printf("\"occupancy\": %.4f, \"restarts\": %d}\n", outcome.occupancy(), outcome.restarts());
}

}  // namespace
}  // namespace crossover::benchmarks

int main(int argc, char** argv) {
  using namespace crossover::benchmarks;
  try {
    const Options options = OptionsOf(argc, argv);
    const std::vector<Job> jobs = ReadTrace(options.trace);
    const Outcome outcome = Simulate(jobs, *PolicyOf(options), options.cluster, options.failing);
    if (!options.jobs.empty()) WriteJobs(outcome, options.jobs);
    Print(options, outcome);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "placement_trace: %s\n", error.what());
    return 2;
  }
}
