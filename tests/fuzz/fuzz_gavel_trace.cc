// libs: placement_traces
// Parses Gavel's traces. A text is either refused with a line that names the file, or its jobs can be
// simulated.
#include <cstddef>
#include <cstdint>
#include <sstream>

#include "benchmarks/placement/traces/gavel_trace.h"
#include "tests/fuzz/traced.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crossover::benchmarks;
  static const Rates kRates = {{{"Net (batch size 8)", 1}, 4},
                               {{"Net (batch size 8)", 2}, 5},
                               {{"Net (batch size 8)", 4}, 20},
                               {{"A3C", 1}, 10}};
  std::istringstream text({reinterpret_cast<const char*>(data), size});
  crossover::fuzz::CheckTrace([&] { return ParseGavel(text, "f", kRates); });
  return 0;
}
