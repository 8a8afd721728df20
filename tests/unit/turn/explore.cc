// Runs the explorer from the command line, for larger bounds than the unit tests use: explore CLIENTS TURNS
// YIELDS KILLS LATE SUSPENSIONS [MAX [SIGNALS]]. Exits with 1 if it finds a fault, and with 3 if the first
// MAX states have none but there are more.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/unit/turn/explorer.h"

namespace {

using crossover::turn::test::ExplorerOptions;
using crossover::turn::test::Signals;

// Returns false if `name` is no world of signals.
bool SetSignals(std::string_view name, ExplorerOptions* options) {
  options->arbiter_dies = name == "any-arbiter-dies" || name == "kept-arbiter-dies";
  options->torn_looks = name == "kept-torn";
  options->late_signals = name == "kept-late";
  options->signals = name.starts_with("any") ? Signals::kAny : Signals::kKept;
  return options->arbiter_dies || options->torn_looks || options->late_signals || name == "any" ||
         name == "kept";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr,
                 "usage: %s CLIENTS(2-3) TURNS YIELDS KILLS LATE_WRITES(0|1) SUSPENSIONS [MAX_STATES "
                 "[any|any-arbiter-dies|kept|kept-torn|kept-late|kept-arbiter-dies]]\n",
                 argv[0]);
    return 2;
  }
  const auto number = [argv](int i) {
    return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  };
  ExplorerOptions options;
  options.clients = number(1);
  options.turns = number(2);
  options.yields = number(3);
  options.kills = number(4);
  options.late_writes = number(5) != 0;
  options.suspensions = number(6);
  if (argc > 7) options.max_states = std::strtoull(argv[7], nullptr, 10);
  if (argc > 8 && !SetSignals(argv[8], &options)) {
    std::fprintf(stderr, "SIGNALS: expected one of those that the usage names, got %s\n", argv[8]);
    return 2;
  }
  const auto result = crossover::turn::test::Explore(options);
  std::printf(
      "%llu states, %llu followed to the end, %s\n%s\n", static_cast<unsigned long long>(result.states),
      static_cast<unsigned long long>(result.completions),
      result.complete ? "complete" : "cut off at the bound", result.fault.value_or("no fault").c_str());
  if (result.fault) return 1;
  return result.complete ? 0 : 3;
}
