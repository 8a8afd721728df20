// Plays a client that is killed: it stands at a gate, or its release is queued behind kernels. It says when
// it does, and goes on until its standard input ends.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

constexpr std::uint64_t kKernelNs = 20'000'000;
constexpr int kQueued = 200;

}  // namespace

int Stand(Arguments arguments) {
  const std::string_view where = arguments.size() == 1 ? arguments[0] : "";
  if (where != "gate" && where != "release") return RefuseArguments("stand", "gate|release", arguments);
  const RealGpu gpu;
  auto* word = static_cast<std::uint32_t*>(SharedMemory(4096));
  const CUdeviceptr page = Register(word, 4096);
  CUstreamBatchMemOpParams started = gates::WriteParams(page + 128, 1);
  Enqueue(gpu.stream(), &started, 1);
  if (where == "gate") {
    auto wait = gates::WaitParams(page, 1);
    Enqueue(gpu.stream(), &wait, 1);
    gpu.Work(gpu.stream(), kKernelNs);
  } else {
    for (int i = 0; i < kQueued; ++i) gpu.Work(gpu.stream(), kKernelNs);
    auto write = gates::WriteParams(page + 64, 1);
    Enqueue(gpu.stream(), &write, 1);
  }
  while (base::LoadWord(word + 32) == 0) SleepNs(100'000);
  std::printf("{\"ready\": true}\n");
  std::fflush(stdout);
  char ignored[64];
  while (::read(STDIN_FILENO, ignored, sizeof ignored) > 0) continue;
  base::StoreWord(word, 1);
  base::FutexWakeAll(word);
  const CUresult result = Cuda().cuStreamSynchronize(gpu.stream());
  std::printf("{\"result\": \"%s\"}\n", NameOf(result));
  return result == CUDA_SUCCESS ? 0 : 3;
}

}  // namespace crossover::bench
