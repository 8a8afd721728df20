#include "benchmarks/gpu/programs/calibrate.h"

#include <cstdint>

namespace crossover::bench {

double LoopsPerUs(const RealGpu& gpu) {
  if (!gpu.computes() || !gpu.has_kernels()) return 0;
  constexpr std::uint32_t kLoops = 1'000'000;
  auto* stamps = static_cast<volatile std::int64_t*>(SharedMemory(4096));
  const CUdeviceptr where = Register(const_cast<std::int64_t*>(stamps), 4096);
  gpu.Loops(gpu.stream(), 50 * kLoops);  // clocks rise under load
  gpu.Stamp(gpu.stream(), where);
  gpu.Loops(gpu.stream(), kLoops);
  gpu.Loops(gpu.stream(), kLoops);
  gpu.Stamp(gpu.stream(), where + 8);
  gpu.Synchronize(gpu.stream());
  return 2.0 * kLoops * 1e3 / static_cast<double>(stamps[1] - stamps[0]);
}

}  // namespace crossover::bench
