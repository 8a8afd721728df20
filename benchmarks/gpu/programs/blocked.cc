// Tells whether a process whose stream waits for a word keeps the GPU from another process.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

struct Shared {
  std::uint32_t word;    // stays closed until the end
  std::uint32_t stands;  // the blocked process is blocked
};

// Makes a copy on a stream of its own wait for `stream`: a second engine then has work that cannot begin.
void CopyBehind(const RealGpu& gpu, CUstream stream) {
  constexpr std::size_t kBytes = 1 << 20;
  CUdeviceptr target = 0;
  CUevent event = nullptr;
  Check(Cuda().cuMemAlloc(&target, kBytes), "cuMemAlloc");
  Check(Cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  Check(Cuda().cuEventRecord(event, stream), "cuEventRecord");
  const CUstream copies = gpu.NewStream();
  Check(Cuda().cuStreamWaitEvent(copies, event, 0), "cuStreamWaitEvent");
  void* source = SharedMemory(kBytes);
  Register(source, kBytes);
  Check(Cuda().cuMemcpyHtoDAsync(target, source, kBytes, copies), "cuMemcpyHtoDAsync");
}

// Known bad: computes all the time until the word is there.
void Work(const RealGpu& gpu, Shared* shared) {
  base::StoreWord(&shared->stands, 1);
  base::FutexWakeAll(&shared->stands);
  while (base::LoadWord(&shared->word) == 0) {
    for (int i = 0; i < 4; ++i) gpu.Work(gpu.stream(), 500'000);
    gpu.Synchronize(gpu.stream());
  }
}

void StandStill(Shared* shared, std::string_view how) {
  const RealGpu gpu;
  const CUdeviceptr page = Register(shared, 4096);
  if (how == "work") return Work(gpu, shared);
  if (how == "spin") {
    gpu.Spin(gpu.stream(), page, 1);
  } else {
    auto wait = gates::WaitParams(page, 1);
    Enqueue(gpu.stream(), &wait, 1);
    if (how == "copy") CopyBehind(gpu, gpu.stream());
  }
  base::StoreWord(&shared->stands, 1);
  base::FutexWakeAll(&shared->stands);
  gpu.Synchronize(gpu.stream());
}

double Compute(std::int64_t ms) {
  const RealGpu gpu;
  constexpr std::uint64_t kKernelNs = 500'000;
  for (int i = 0; i < 20; ++i) gpu.Work(gpu.stream(), kKernelNs);
  gpu.Synchronize(gpu.stream());
  const std::int64_t began = base::MonotonicNs();
  const auto kernels = static_cast<std::int64_t>(ms * base::kNsPerMs / static_cast<std::int64_t>(kKernelNs));
  for (std::int64_t i = 0; i < kernels; ++i) gpu.Work(gpu.stream(), kKernelNs);
  gpu.Synchronize(gpu.stream());
  return static_cast<double>(base::MonotonicNs() - began) / static_cast<double>(kernels) / kKernelNs;
}

}  // namespace

int Blocked(Arguments arguments) {
  const std::string_view beside = arguments.size() == 2 ? arguments[0] : "";
  if (beside != "nothing" && beside != "wait" && beside != "copy" && beside != "spin" && beside != "work")
    return RefuseArguments("blocked", "nothing|wait|copy|spin|work MS", arguments);
  const std::int64_t ms = Argument("MS", arguments[1], 10, 60'000);
  auto* shared = static_cast<Shared*>(SharedMemory(4096));
  pid_t blocked = -1;
  if (beside != "nothing") {
    blocked = ForkTied();
    if (blocked == 0) {
      StandStill(shared, beside);
      std::exit(0);
    }
    while (base::LoadWord(&shared->stands) == 0) {
      base::FutexWait(&shared->stands, 0, 10'000'000);
      if (::waitpid(blocked, nullptr, WNOHANG) != 0) return 1;
    }
  }
  const pid_t computes = ForkTied();
  if (computes == 0) {
    std::printf("{\"beside\": \"%s\", \"of_alone\": %.4f}\n", arguments[0], Compute(ms));
    std::exit(0);
  }
  int status = 0;
  ::waitpid(computes, &status, 0);
  base::StoreWord(&shared->word, 1);
  base::FutexWakeAll(&shared->word);
  int other = 0;
  if (blocked > 0) ::waitpid(blocked, &other, 0);
  return WIFEXITED(status) && WIFEXITED(other) ? WEXITSTATUS(status) + WEXITSTATUS(other) : 1;
}

}  // namespace crossover::bench
