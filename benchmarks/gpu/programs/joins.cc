// Measures what it costs a training process that a helper thread sets up turns meanwhile: it registers a page
// of host memory, makes a stream and waits for it.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

constexpr int kStepKernels = 10;
constexpr std::uint64_t kKernelNs = 500'000;
constexpr int kEvery = 20;  // steps between two joins

// Does what the library's helper does when it joins.
void Join(const RealGpu& gpu) {
  auto* page = static_cast<std::uint32_t*>(SharedMemory(4096));
  const CUdeviceptr address = Register(page, 4096);
  const CUstream stream = gpu.NewStream();
  auto write = gates::WriteParams(address, 1);
  Enqueue(stream, &write, 1);
  gpu.Synchronize(stream);
}

}  // namespace

int Joins(Arguments arguments) {
  if (arguments.size() != 1) return RefuseArguments("joins", "STEPS", arguments);
  const std::int64_t steps = Argument("STEPS", arguments[0], 2 * kEvery, 100'000);
  const RealGpu gpu;
  std::atomic<int> wanted{0}, done{0};
  std::thread helper([&] {
    CUcontext context = nullptr;
    Check(Cuda().cuDevicePrimaryCtxRetain(&context, gpu.device()), "cuDevicePrimaryCtxRetain");
    Check(Cuda().cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (int joined = 0; joined >= 0;) {
      wanted.wait(joined);
      joined = wanted.load();
      if (joined > 0) Join(gpu);
      done.store(joined);
    }
  });
  std::vector<std::int64_t> quiet, joining;
  for (std::int64_t step = 0; step < steps; ++step) {
    const bool joins = step % kEvery == kEvery - 1;
    const std::int64_t before = base::MonotonicNs();
    for (int i = 0; i < kStepKernels; ++i) {
      gpu.Work(gpu.stream(), kKernelNs);
      if (joins && i == 0) wanted.fetch_add(1), wanted.notify_one();
    }
    gpu.Synchronize(gpu.stream());
    if (step >= kEvery - 1) (joins ? joining : quiet).push_back(base::MonotonicNs() - before);
    while (done.load() < wanted.load()) SleepNs(100'000);
  }
  wanted.store(-1);
  wanted.notify_one();
  helper.join();
  std::printf("{\"quiet_us\": %s, \"joining_us\": %s}\n", SummaryUs(quiet).c_str(),
              SummaryUs(joining).c_str());
  return 0;
}

}  // namespace crossover::bench
