// Measures small kernels beside processes whose streams wait for words, in host memory or in device memory:
// what each more of them costs.
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "benchmarks/gpu/programs/signal_words.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "proto/signaller_protocol.h"
#include "proto/turnstile.h"
#include "sidecar/gates/memory_operations.h"
#include "turn/signal.h"

namespace crossover::bench {
namespace {

constexpr int kStepKernels = 20;
constexpr std::uint64_t kStepKernelNs = 5000;

constexpr std::int64_t kMostClients = CROSSOVER_MAX_CLIENTS;

struct Shared {
  std::uint32_t word;    // stays closed until the end
  std::uint32_t stands;  // clients that stand still
  alignas(64) crossover_signal_line line[kMostClients];
};

// Waits until the socket is closed, and lets all clients go on.
void OpenAtTheEnd(const std::shared_ptr<signaller::SignalMemory>& memory, int socket) {
  while (!Closed(socket)) SleepNs(base::kNsPerMs);
  std::string error;
  for (std::int64_t client = 0; client < kMostClients; ++client) {
    Require(memory->WriteCome(kArea, static_cast<turn::SlotIndex>(client), &error), "a signal",
            error.c_str());
  }
}

// Waits at the line of `client`, in the memory of `maker` if there is one.
void StandStill(Shared* shared, std::int64_t client, std::int64_t streams, const Maker* maker) {
  const RealGpu gpu;
  const CUdeviceptr lines =
      maker != nullptr ? ImportLines(*maker) : Register(shared, 4096) + offsetof(Shared, line);
  const CUdeviceptr line = lines + static_cast<CUdeviceptr>(client) * sizeof(crossover_signal_line);
  std::int64_t left = streams;
  for (CUstream stream = gpu.stream(); left > 0; stream = --left > 0 ? gpu.NewStream() : stream) {
    auto wait = gates::WaitParams(line, turn::kSignalCome);
    Enqueue(stream, &wait, 1);
  }
  __atomic_add_fetch(&shared->stands, 1, __ATOMIC_RELEASE);
  base::FutexWakeAll(&shared->stands);
  while (base::LoadWord(&shared->word) == 0) base::FutexWait(&shared->word, 0, base::kNsPerSecond);
  gpu.Synchronize(gpu.stream());
}

// Prints launches of an empty kernel per second, and the time of a step of small kernels, each for `ms`.
void Measure(std::int64_t clients, std::int64_t streams, std::int64_t ms) {
  const RealGpu gpu;
  const auto step = [&] {
    for (int i = 0; i < kStepKernels; ++i) gpu.Work(gpu.stream(), kStepKernelNs);
    gpu.Synchronize(gpu.stream());
  };
  for (int i = 0; i < 20; ++i) step();
  std::int64_t launched = 0, end = base::MonotonicNs() + ms * base::kNsPerMs;
  const std::int64_t began = base::MonotonicNs();
  while (base::MonotonicNs() < end) {
    for (int i = 0; i < 100; ++i) gpu.Null(gpu.stream());
    gpu.Synchronize(gpu.stream());
    launched += 100;
  }
  const double per_s = static_cast<double>(launched) * 1e9 / static_cast<double>(base::MonotonicNs() - began);
  std::vector<std::int64_t> steps;
  const std::int64_t steps_began = base::MonotonicNs();
  end = base::MonotonicNs() + ms * base::kNsPerMs;
  while (base::MonotonicNs() < end) {
    const std::int64_t before = base::MonotonicNs();
    step();
    steps.push_back(base::MonotonicNs() - before);
  }
  const double mean_us =
      static_cast<double>(base::MonotonicNs() - steps_began) / 1e3 / static_cast<double>(steps.size());
  std::printf(R"({"clients": %lld, "streams": %lld, "null_per_s": %.1f, "step_mean_us": %.3f, "step_us": %s})"
              "\n",
              static_cast<long long>(clients), static_cast<long long>(streams), per_s, mean_us,
              SummaryUs(steps).c_str());
}

}  // namespace

int Crowd(Arguments arguments) {
  if (arguments.size() != 3 && arguments.size() != 4)
    return RefuseArguments("crowd", "CLIENTS STREAMS MS [NO_MPS]", arguments);
  const std::int64_t clients = Argument("CLIENTS", arguments[0], 0, kMostClients);
  const std::int64_t streams = Argument("STREAMS", arguments[1], 1, 32);
  const std::int64_t ms = Argument("MS", arguments[2], 10, 60'000);
  auto* shared = static_cast<Shared*>(SharedMemory(4096));
  const bool in_device = arguments.size() == 4;
  Maker maker;
  if (in_device) maker = StartMaker(arguments[3], OpenAtTheEnd);
  for (std::int64_t i = 0; i < clients; ++i) {
    if (ForkTied() != 0) continue;
    ::close(maker.socket);
    StandStill(shared, i, streams, in_device ? &maker : nullptr);
    std::exit(0);
  }
  for (std::uint32_t seen = 0; seen < clients; seen = base::LoadWord(&shared->stands)) {
    base::FutexWait(&shared->stands, seen, 10 * base::kNsPerMs);
    if (::waitpid(-1, nullptr, WNOHANG) > 0) return std::fputs("crowd: a client has ended\n", stderr), 1;
  }
  const pid_t computes = ForkTied();
  if (computes == 0) {
    ::close(maker.socket);
    Measure(clients, streams, ms);
    std::exit(0);
  }
  int failed = 0, status = 0;
  ::waitpid(computes, &status, 0);
  failed |= status;
  for (crossover_signal_line& line : shared->line) base::StoreWord(&line.signal, turn::kSignalCome);
  ::close(maker.socket);
  base::StoreWord(&shared->word, 1);
  base::FutexWakeAll(&shared->word);
  while (::wait(&status) > 0) failed |= status;
  return failed == 0 ? 0 : 1;
}

}  // namespace crossover::bench
