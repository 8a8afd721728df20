// Measures how long one hop takes of a word that the streams of two processes pass on to each other, with
// no other process involved.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

struct Shared {
  std::uint32_t word[2];
  std::uint32_t ready;
  std::uint32_t go;
  std::int64_t began, ended;
};

// Passes the word with streams alone: side 0 writes k, side 1 answers k.
void PassByStream(const RealGpu& gpu, CUdeviceptr mine, CUdeviceptr theirs, bool first,
                  std::uint32_t rounds) {
  for (std::uint32_t k = 1; k <= rounds; ++k) {
    CUstreamBatchMemOpParams ops[2] = {gates::WaitParams(mine, k), gates::WriteParams(theirs, k)};
    if (first) ops[0] = gates::WriteParams(theirs, k), ops[1] = gates::WaitParams(mine, k);
    Enqueue(gpu.stream(), ops, 2);
  }
}

// Passes the word in a known-bad way: the host waits for its stream, reads the word every `look_ns`, and
// stores the answer.
void PassByHost(const RealGpu& gpu, Shared* shared, int side, std::uint32_t rounds, std::int64_t look_ns) {
  for (std::uint32_t k = 1; k <= rounds; ++k) {
    gpu.Work(gpu.stream(), 1);
    gpu.Synchronize(gpu.stream());
    if (side == 0) base::StoreWord(&shared->word[1], k);
    if (side == 0) base::FutexWakeAll(&shared->word[1]);
    while (base::LoadWord(&shared->word[side]) < k) SleepNs(look_ns);
    if (side == 1) base::StoreWord(&shared->word[0], k);
    if (side == 1) base::FutexWakeAll(&shared->word[0]);
  }
}

// Plays one side. Its host passes the word and looks for it every `look_ns`, or 0: its stream does.
void Side(Shared* shared, int side, std::uint32_t rounds, std::int64_t look_ns) {
  const RealGpu gpu;
  const CUdeviceptr page = Register(shared, 4096);
  const auto at = [&](void* member) {
    return page + static_cast<CUdeviceptr>(static_cast<char*>(member) - reinterpret_cast<char*>(shared));
  };
  __atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
  while (base::LoadWord(&shared->go) == 0) base::FutexWait(&shared->go, 0, 1'000'000);
  if (side == 0) gpu.Stamp(gpu.stream(), at(&shared->began));
  if (look_ns > 0) {
    gpu.Synchronize(gpu.stream());
    PassByHost(gpu, shared, side, rounds, look_ns);
  } else {
    PassByStream(gpu, at(&shared->word[side]), at(&shared->word[1 - side]), side == 0, rounds);
  }
  if (side == 0) gpu.Stamp(gpu.stream(), at(&shared->ended));
  gpu.Synchronize(gpu.stream());
}

}  // namespace

int Words(Arguments arguments) {
  const std::string_view by = arguments.size() >= 2 ? arguments[1] : "";
  if ((by != "host" && by != "gpu") || arguments.size() > 3)
    return RefuseArguments("words", "ROUNDS host|gpu [LOOK_US]", arguments);
  const auto rounds = static_cast<std::uint32_t>(Argument("ROUNDS", arguments[0], 1, 500));
  const std::int64_t look_us = arguments.size() == 3 ? Argument("LOOK_US", arguments[2], 1, 1'000'000) : 200;
  auto* shared = static_cast<Shared*>(SharedMemory(4096));
  pid_t sides[2];
  for (int side = 0; side < 2; ++side) {
    sides[side] = ForkTied();
    if (sides[side] != 0) continue;
    Side(shared, side, rounds, by == "host" ? look_us * 1000 : 0);
    std::exit(0);
  }
  bool well = true;
  while (base::LoadWord(&shared->ready) != 2 && well) {
    base::FutexWait(&shared->ready, base::LoadWord(&shared->ready), 1'000'000);
    int status = 0;
    well = ::waitpid(-1, &status, WNOHANG) == 0;
  }
  base::StoreWord(&shared->go, 1);
  base::FutexWakeAll(&shared->go);
  for (const pid_t side : sides) {
    int status = 0;
    if (::waitpid(side, &status, 0) == side) well = well && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  if (!well) return 1;
  std::printf("{\"rounds\": %u, \"hop_us\": %.3f}\n", rounds,
              static_cast<double>(shared->ended - shared->began) / 1e3 / (2.0 * rounds));
  return 0;
}

}  // namespace crossover::bench
