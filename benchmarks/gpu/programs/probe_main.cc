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
    {"info", crossover::bench::Info},         // what the driver and the GPU are; calibrates the work kernel
    {"lookups", crossover::bench::Lookups},   // pointers of functions by dlsym and by cuGetProcAddress
    {"words", crossover::bench::Words},       // ROUNDS host|gpu: a word that two processes' streams pass on
    {"blocked", crossover::bench::Blocked},   // nothing|wait|spin MS: a process computes beside a blocked one
    {"queues", crossover::bench::Queues},     // STREAMS: which streams a blocked one holds up
    {"loop", crossover::bench::Loop},         // KERNEL_US: computes until its standard input ends
    {"allocate", crossover::bench::Allocate}  // MIB CHUNK_MIB hold|end
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  for (const Probe& probe : kProbes) {
    if (probe.name == wanted) return probe.run({argv + 2, static_cast<std::size_t>(argc - 2)});
  }
  std::fputs("gpu_probe: want info, lookups, words, blocked, queues, loop or allocate\n", stderr);
  return 2;
}
