// libs: placement_traces
// Parses Philly's jobs as Pollux keeps them. A text is either refused with a line that names the file, or
// its jobs can be simulated.
#include <cstddef>
#include <cstdint>
#include <sstream>

#include "benchmarks/placement/traces/philly_trace.h"
#include "tests/fuzz/traced.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace crossover::benchmarks;
  static const ModelSteps kSteps = {{"cifar10", {{1, {0.5, 0}}}}, {"yolov3", {{8, {0.75, 0.25}}}}};
  std::istringstream text({reinterpret_cast<const char*>(data), size});
  crossover::fuzz::CheckTrace([&] { return ParsePhilly(text, "f", kSteps, {}); });
  return 0;
}
