// placement_trace TRACE.csv POLICY [--nodes=8] [--gpus=8] [--efficiency=0.95] [--starvation=1800]
// [--min-gain=1.05]
//                           [--seed=1]
// One JSON line: what the policy makes of the trace.
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include "benchmarks/placement/policies.h"
#include "benchmarks/placement/simulate.h"

namespace crossover::benchmarks {
namespace {

struct Options {
  std::string trace;
  std::string policy;
  Cluster cluster;
  placement::Settings settings;
  std::uint64_t seed = 1;
};

const char kUsage[] =
    "usage: placement_trace TRACE.csv fifo|shortest|random|muri|shipped|powers [--nodes=N] [--gpus=N] "
    "[--efficiency=0-1] [--starvation=SECONDS] [--min-gain=N] [--seed=N]";

Options OptionsOf(int argc, char** argv) {
  if (argc < 3) throw std::runtime_error(kUsage);
  Options options;
  options.trace = argv[1];
  options.policy = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) throw std::runtime_error(argument + ": " + kUsage);
    const std::string key = argument.substr(0, equals), value = argument.substr(equals + 1);
    if (key == "--nodes") {
      options.cluster.nodes = std::stoi(value);
    } else if (key == "--gpus") {
      options.cluster.gpus_per_node = std::stoi(value);
    } else if (key == "--efficiency") {
      options.settings.efficiency = std::stod(value);
    } else if (key == "--starvation") {
      options.settings.starvation_s = std::stod(value);
    } else if (key == "--min-gain") {
      options.settings.min_gain = std::stod(value);
    } else if (key == "--seed") {
      options.seed = std::stoull(value);
    } else {
      throw std::runtime_error(argument + ": " + kUsage);
    }
  }
  return options;
}

std::unique_ptr<Policy> PolicyOf(const Options& o) {
  const std::map<std::string, std::function<std::unique_ptr<Policy>()>> kPolicies = {
      {"fifo", [&] { return MakeFifo(o.cluster); }},
      {"shortest", [&] { return MakeShortest(o.cluster); }},
      {"random", [&] { return MakeRandom(o.cluster, o.settings.efficiency, o.seed); }},
      {"muri", [&] { return MakeMuri(o.cluster); }},
      {"shipped", [&] { return MakeShipped(o.cluster, o.settings); }},
      {"powers", [&] { return MakePowers(o.cluster, o.settings.efficiency); }}};
  const auto found = kPolicies.find(o.policy);
  if (found == kPolicies.end()) throw std::runtime_error("policy \"" + o.policy + "\": " + kUsage);
  return found->second();
}

}  // namespace
}  // namespace crossover::benchmarks

int main(int argc, char** argv) {
  using namespace crossover::benchmarks;
  try {
    const Options options = OptionsOf(argc, argv);
    const std::vector<Job> jobs = ReadTrace(options.trace);
    const std::unique_ptr<Policy> policy = PolicyOf(options);
    const Outcome outcome = Simulate(jobs, *policy);
    std::printf(
        "{\"policy\": \"%s\", \"jobs\": %zu, \"completion_s\": %.3f, \"makespan_s\": %.3f, \"slowdown\": "
        "%.4f}\n",
        options.policy.c_str(), outcome.jobs.size(), outcome.mean_completion_s(), outcome.makespan_s(),
        outcome.mean_slowdown());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "placement_trace: %s\n", error.what());
    return 2;
  }
}
