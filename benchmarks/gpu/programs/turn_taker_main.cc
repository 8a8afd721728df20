// gpu_turn_taker HOLD_US [LOOK_US] takes turns until its standard input ends. "count N" on its standard input
// makes it print when each of its next N turns began and ended.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/turn_taker.h"

namespace crossover::bench {
namespace {

// Returns the next line, without waiting: nothing if there is none, "end" at the end of input.
std::optional<std::string> Line() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, 0) <= 0) return std::nullopt;
  std::string line;
  for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) == 1; line += byte) {
    if (byte == '\n') return line;
  }
  return "end";
}

void Print(const std::vector<Held>& turns) {
  std::printf("{\"turns\": [");
  for (std::size_t i = 0; i < turns.size(); ++i) {
    std::printf("%s[%lld, %lld]", i == 0 ? "" : ", ", static_cast<long long>(turns[i].entered),
                static_cast<long long>(turns[i].left));
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc < 2 || argc > 3)
    return RefuseArguments("gpu_turn_taker", "HOLD_US [LOOK_US]",
                           {argv + 1, static_cast<std::size_t>(argc - 1)});
  const std::int64_t look_us = argc == 3 ? Argument("LOOK_US", argv[2], 1, 1'000'000) : 0;
  TurnTaker taker(Argument("HOLD_US", argv[1], 1, 1'000'000), look_us);
  std::puts("{\"ready\": true}");
  std::fflush(stdout);
  std::uint64_t first = 0, last = 0;
  while (true) {
    const auto line = Line();
    if (line == "end") return 0;
    if (line && line->rfind("count ", 0) == 0) {
      first = taker.steps();
      last =
          first + static_cast<std::uint64_t>(Argument("count", line->c_str() + 6, 1, TurnTaker::kKept / 2));
    } else if (line) {
      std::fprintf(stderr, "gpu_turn_taker: expected 'count N', got '%s'\n", line->c_str());
      return 2;
    }
    taker.Step();
    if (last == 0 || taker.steps() < last || !taker.Ended(last - 1)) continue;
    Print(taker.Between(first, last));
    last = 0;
  }
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }
