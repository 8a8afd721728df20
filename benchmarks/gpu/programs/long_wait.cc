// Lets a stream wait for a word for a given time, and tells whether the driver minds.
#include <cstdio>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

constexpr std::int64_t kPatienceMs = 5000;  // for a stream that does not wait

}  // namespace

// Known bad: the word is already there, so the stream does not wait.
int LongWait(Arguments arguments) {
  if (arguments.size() != 1) return RefuseArguments("long_wait", "MS", arguments);
  const std::int64_t ms = Argument("MS", arguments[0], 0, 600'000);
  const RealGpu gpu;
  auto* word = static_cast<std::uint32_t*>(SharedMemory(4096));
  const CUdeviceptr page = Register(word, 4096);
  gpu.Work(gpu.stream(), 1000);
  gpu.Synchronize(gpu.stream());
  if (ms == 0) base::StoreWord(word, 1);
  CUstreamBatchMemOpParams ops[2] = {gates::WaitParams(page, 1), gates::WriteParams(page + 64, 1)};
  const std::int64_t began = base::MonotonicNs(), longest_ms = ms == 0 ? kPatienceMs : ms;
  Enqueue(gpu.stream(), ops, 2);
  CUresult during = CUDA_ERROR_NOT_READY;
  while (base::MonotonicNs() < began + longest_ms * base::kNsPerMs && during == CUDA_ERROR_NOT_READY) {
    SleepNs(10 * base::kNsPerMs);
    during = Cuda().cuStreamQuery(gpu.stream());
  }
  const double waited = static_cast<double>(base::MonotonicNs() - began) / 1e6;
  const bool stood = base::LoadWord(word + 16) == 0;
  base::StoreWord(word, 1);
  base::FutexWakeAll(word);
  const CUresult passed = Cuda().cuStreamSynchronize(gpu.stream());
  CUresult after = passed;
  if (passed == CUDA_SUCCESS) {
    gpu.Work(gpu.stream(), 1000);
    after = Cuda().cuStreamSynchronize(gpu.stream());
  }
  std::printf(R"({"waited_ms": %.1f, "stood": %s, "during": "%s", "passed": "%s", "after": "%s"})"
              "\n",
              waited, stood ? "true" : "false", NameOf(during), NameOf(passed), NameOf(after));
  return 0;
}

}  // namespace crossover::bench
