// Asks the driver one question at a time and answers with one JSON line. Exit code 2: wrong arguments.
#include <cstdio>
#include <string_view>

#include "benchmarks/gpu/programs/probes.h"

namespace {

struct Probe {
  std::string_view name;
  int (*run)(crossover::bench::Arguments arguments);
};

constexpr Probe kProbes[] = {
    {"info", crossover::bench::Info},        // what the driver and the GPU are; calibrates the work kernel
    {"lookups", crossover::bench::Lookups},  // pointers of functions by dlsym and by cuGetProcAddress
    {"words", crossover::bench::Words},      // ROUNDS host|gpu [LOOK_US]: a word that two streams pass on
    {"blocked",
     crossover::bench::Blocked},  // nothing|wait|copy|spin|work MS: computes beside a blocked process
    {"queues", crossover::bench::Queues},         // STREAMS: which streams a blocked one holds up
    {"loop", crossover::bench::Loop},             // KERNEL_US: computes until its standard input ends
    {"allocate", crossover::bench::Allocate},     // MIB CHUNK_MIB hold|end
    {"releases", crossover::bench::AskReleases},  // STREAMS: which writes wait for another stream's kernel
    {"crowd", crossover::bench::Crowd},  // CLIENTS STREAMS MS [NO_MPS]: small kernels beside blocked clients
    {"openings", crossover::bench::Openings},   // ROUNDS gate|follow|look ...: a gate that a CPU opens
    {"long_wait", crossover::bench::LongWait},  // MS: a stream that waits for a word for that long
    {"litmus", crossover::bench::RunLitmus},    // ROUNDS SECONDS plain|barrier|reversed
    {"stand", crossover::bench::Stand},         // gate|release: stands there until its standard input ends
    {"names", crossover::bench::Names},         // the name of a CUkernel, asked as if of a CUfunction
    {"joins", crossover::bench::Joins}          // STEPS: steps beside a helper that sets up turns
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const Probe& probe : kProbes) {
    if (probe.name == wanted) return probe.run({argv + 2, static_cast<std::size_t>(argc - 2)});
  }
  std::fputs("gpu_probe: expected one of", stderr);
  for (const Probe& probe : kProbes) std::fprintf(stderr, " %s", probe.name.data());
  std::fprintf(stderr, "; got '%s'\n", argc > 1 ? argv[1] : "");
  return 2;
}
