// libs: placement_traces
// Parses the iterations that Pollux has measured.
#include <cstddef>
#include <cstdint>
#include <sstream>

#include "benchmarks/placement/traces/steps.h"
#include "tests/fuzz/traced.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crossover::benchmarks;
  std::istringstream text({reinterpret_cast<const char*>(data), size});
  crossover::fuzz::CheckRefusal([&] {
    for (const auto& [gpus, step] : ParseSteps(text, "f", 6)) {
      if (gpus < 1 || gpus > 64 || !(step.step_s > 0) || !(step.sync_s >= 0 && step.sync_s <= step.step_s))
        __builtin_trap();
    }
  });
  return 0;
}
