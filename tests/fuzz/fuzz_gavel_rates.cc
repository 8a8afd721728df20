// libs: placement_traces
// Parses Gavel's file of rates, which is JSON that may contain anything.
#include <cstddef>
#include <cstdint>

#include "benchmarks/placement/traces/rates.h"
#include "tests/fuzz/traced.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crossover::benchmarks;
  crossover::fuzz::CheckRefusal([&] {
    for (const auto& [key, rate] : ParseRates({reinterpret_cast<const char*>(data), size}, "f", "v100")) {
      if (key.first.empty() || key.second < 1 || !(rate > 0) || !std::isfinite(rate)) __builtin_trap();
    }
  });
  return 0;
}
