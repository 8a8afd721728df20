// Allocates GPU memory in chunks, up to an amount or until the driver refuses.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"

namespace crossover::bench {

int Allocate(Arguments arguments) {
  if (arguments.size() != 3) return RefuseArguments("allocate", "MIB CHUNK_MIB hold|end", arguments);
  const RealGpu gpu;
  const std::int64_t wanted = Argument("MIB", arguments[0], 1, 1 << 20);
  const std::int64_t chunk = Argument("CHUNK_MIB", arguments[1], 1, 1 << 16);
  std::int64_t got = 0;
  CUresult result = CUDA_SUCCESS;
  while (got < wanted && result == CUDA_SUCCESS) {
    CUdeviceptr memory = 0;
    result = Cuda().cuMemAlloc(&memory, static_cast<std::size_t>(chunk) << 20);
    if (result == CUDA_SUCCESS) result = Cuda().cuMemsetD8(memory, 0, static_cast<std::size_t>(chunk) << 20);
    if (result == CUDA_SUCCESS) got += chunk;
  }
  std::size_t free = 0, total = 0;
  const CUresult asked = Cuda().cuMemGetInfo(&free, &total);
  gpu.Work(gpu.stream(), 1000);
  const CUresult after = Cuda().cuStreamSynchronize(gpu.stream());
  std::printf(R"({"got_mib": %lld, "result": "%s", "free_mib": %zu, "total_mib": %zu, "goes_on": %s})"
              "\n",
              static_cast<long long>(got), NameOf(result), free >> 20, total >> 20,
              asked == CUDA_SUCCESS && after == CUDA_SUCCESS ? "true" : "false");
  std::fflush(stdout);
  char byte;
  if (std::string_view(arguments[2]) == "hold") static_cast<void>(!::read(STDIN_FILENO, &byte, 1));
  return 0;
}

}  // namespace crossover::bench
