// libs: placement_traces
// Parses Muri's traces. A text is either refused with a line that names the file, or its jobs can be
// simulated.
#include <cstddef>
#include <cstdint>
#include <sstream>

#include "benchmarks/placement/traces/muri_trace.h"
#include "tests/fuzz/traced.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crossover::benchmarks;
  std::istringstream text({reinterpret_cast<const char*>(data), size});
  crossover::fuzz::CheckTrace([&] { return ParseMuri(text, "f"); });
  return 0;
}
