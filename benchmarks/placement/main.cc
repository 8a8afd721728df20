// placement_trace TRACE POLICY [OPTIONS] prints one JSON line: what the policy makes of the trace.
#include <cstdio>
#include <exception>

#include "benchmarks/placement/options.h"
#include "benchmarks/placement/report.h"
#include "benchmarks/placement/shake.h"

int main(int argc, char** argv) {
  using namespace crossover::benchmarks;
  try {
    const Options options = OptionsOf(argc, argv);
    Trace trace = ReadTrace(options.source);
    if (options.shake) Shake(trace.jobs, *options.shake);
    const Outcome outcome = Simulate(trace.jobs, *PolicyOf(options), options.cluster, options.failing);
    if (!options.jobs.empty()) WriteJobs(outcome, options.jobs);
    if (!options.occupancy.empty()) WriteOccupancy(outcome, options.occupancy);
    std::puts(LineOf(outcome, options.policy, trace.left_out).c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "placement_trace: %s\n", error.what());
    return 2;
  }
}
