// Tells which streams stand still behind one that waits for a word: streams may share hardware queues.
#include <cstdio>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

bool Done(CUstream stream) { return Cuda().cuStreamQuery(stream) == CUDA_SUCCESS; }

// Returns how many streams have not come to their end 300 ms later, when all that may run has run.
int Standing(const std::vector<CUstream>& streams) {
  const std::int64_t end = base::MonotonicNs() + 300 * base::kNsPerMs;
  int standing = 0;
  do {
    standing = 0;
    for (const CUstream stream : streams) standing += !Done(stream);
  } while (standing > 0 && base::MonotonicNs() < end);
  return standing;
}

}  // namespace

int Queues(Arguments arguments) {
  if (arguments.size() != 1) return RefuseArguments("queues", "STREAMS", arguments);
  const RealGpu gpu;
  auto* word = static_cast<std::uint32_t*>(SharedMemory(4096));
  const CUdeviceptr address = Register(word, 4096);
  std::vector<CUstream> streams;
  for (std::int64_t i = Argument("STREAMS", arguments[0], 1, 256); i > 0; --i)
    streams.push_back(gpu.NewStream());
  for (const CUstream stream : streams) gpu.Work(stream, 1000);  // this gives each stream its queue
  for (const CUstream stream : streams) gpu.Synchronize(stream);

  auto wait = gates::WaitParams(address, 1);
  Enqueue(gpu.stream(), &wait, 1);
  gpu.Work(gpu.stream(), 1000);  // known bad: the waiting stream's own work must stand
  for (const CUstream stream : streams) gpu.Work(stream, 1000);
  const int standing = Standing(streams);
  const bool own_stands = !Done(gpu.stream());
  base::StoreWord(word, 1);
  base::FutexWakeAll(word);
  gpu.Synchronize(gpu.stream());
  for (const CUstream stream : streams) gpu.Synchronize(stream);
  std::printf("{\"streams\": %zu, \"held_up\": %d, \"own_stands\": %s}\n", streams.size(), standing,
              own_stands ? "true" : "false");
  return 0;
}

}  // namespace crossover::bench
