// gpu_job COMPUTE_US GRADIENT_BYTES [RANKS] is a job that steps when it is told to. On its standard input,
// "go" starts the steps. "stop" ends them, and the job prints when each step ended, by CLOCK_MONOTONIC. The
// end of input ends the job. "leave" makes it exit within a step, in a turn that it holds, with its
// communicator alive. The PyTorch jobs of benchmarks/gpu have the same protocol, without "leave".
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/job.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

// Reads one word, or returns "end" at the end of input. Returns "" where no word has come and `waits` is
// false.
std::string Word(bool waits) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, waits ? -1 : 0) <= 0) return "";
  std::string word;
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) == 1) {
    if (byte == '\n') return word;
    word += byte;
  }
  return "end";
}

void Report(std::int64_t began, const std::vector<std::int64_t>& ends, bool intact) {
  std::printf("{\"began_ns\": %lld, \"intact\": %s, \"ends_ns\": [", static_cast<long long>(began),
              intact ? "true" : "false");
  for (std::size_t i = 0; i < ends.size(); ++i)
    std::printf("%s%lld", i == 0 ? "" : ", ", static_cast<long long>(ends[i]));
  std::printf("]}\n");
  std::fflush(stdout);
}

// Returns from the program as one does that forgets its communicator: nothing of the job is destroyed.
int Leave(std::unique_ptr<Job> job) {
  job.release()->StepInPart();
  return 0;
}

int Main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    return RefuseArguments("gpu_job", "COMPUTE_US GRADIENT_BYTES [RANKS]",
                           {argv + 1, static_cast<std::size_t>(argc - 1)});
  }
  JobOptions options;
  options.compute_us = Argument("COMPUTE_US", argv[1], 10, 10'000'000);
  options.gradient_bytes = Argument("GRADIENT_BYTES", argv[2], 64, std::int64_t{1} << 34);
  if (argc == 4) options.ranks = static_cast<int>(Argument("RANKS", argv[3], 2, 64));
  auto owned = std::make_unique<Job>(options);
  Job& job = *owned;
  std::puts("{\"ready\": true}");
  std::fflush(stdout);
  std::string word = Word(true);
  while (word == "go") {
    const std::int64_t began = base::MonotonicNs();
    for (word = ""; word.empty(); word = Word(false)) job.Step();
    if (word == "leave") return Leave(std::move(owned));
    const auto ends = job.TakeEnds();
    Report(began, ends, job.Intact());
    if (word == "stop") word = Word(true);
  }
  return word == "end" ? 0
                       : (std::fprintf(stderr, "gpu_job: '%s' is not go, stop or leave\n", word.c_str()), 2);
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }
