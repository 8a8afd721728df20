// Plays a neighbour: computes kernel after kernel and notes when each was over, until its standard input
// ends or the driver returns an error.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

bool InputEnded() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored[64];
  return ::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, ignored, sizeof ignored) <= 0;
}

}  // namespace

int Loop(Arguments arguments) {
  if (arguments.size() != 1) return RefuseArguments("loop", "KERNEL_US", arguments);
  const RealGpu gpu;
  const auto ns = static_cast<std::uint64_t>(Argument("KERNEL_US", arguments[0], 10, 1'000'000)) * 1000;
  std::vector<std::int64_t> gaps;
  CUresult result = CUDA_SUCCESS;
  gpu.Work(gpu.stream(), ns);
  result = Cuda().cuStreamSynchronize(gpu.stream());
  std::printf("{\"ready\": true}\n");
  std::fflush(stdout);
  std::int64_t before = base::MonotonicNs();
  while (result == CUDA_SUCCESS && !InputEnded()) {
    gpu.Work(gpu.stream(), ns);
    result = Cuda().cuStreamSynchronize(gpu.stream());
    const std::int64_t now = base::MonotonicNs();
    gaps.push_back(now - before);
    before = now;
  }
  std::printf("{\"kernels\": %zu, \"result\": \"%s\", \"gap_us\": %s}\n", gaps.size(), NameOf(result),
              SummaryUs(gaps).c_str());
  return result == CUDA_SUCCESS ? 0 : 3;
}

}  // namespace crossover::bench
