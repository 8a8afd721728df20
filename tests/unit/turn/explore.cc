// Runs the explorer from the command line, for larger bounds than the unit tests use: explore CLIENTS TURNS
// YIELDS KILLS LATE SUSPENSIONS [MAX]. Exits with 1 where it finds a fault, and with 3 where the first MAX
// states have none but there are more.
#include <cstdio>
#include <cstdlib>

#include "tests/unit/turn/explorer.h"

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr,
                 "usage: %s CLIENTS(2-3) TURNS YIELDS KILLS LATE_WRITES(0|1) SUSPENSIONS [MAX_STATES]\n",
                 argv[0]);
    return 2;
  }
  const auto number = [argv](int i) {
    return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  };
  crossover::turn::test::ExplorerOptions options;
  options.clients = number(1);
  options.turns = number(2);
  options.yields = number(3);
  options.kills = number(4);
  options.late_writes = number(5) != 0;
  options.suspensions = number(6);
  if (argc > 7) options.max_states = std::strtoull(argv[7], nullptr, 10);
  const auto result = crossover::turn::test::Explore(options);
  std::printf(
      "%llu states, %llu followed to the end, %s\n%s\n", static_cast<unsigned long long>(result.states),
      static_cast<unsigned long long>(result.completions),
      result.complete ? "complete" : "cut off at the bound", result.fault.value_or("no fault").c_str());
  if (result.fault) return 1;
  return result.complete ? 0 : 3;
}
