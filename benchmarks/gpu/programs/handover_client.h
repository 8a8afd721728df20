// Two clients that hand a GPU back and forth, and when each turn began and ended by the GPU's own clock.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "benchmarks/gpu/programs/shared_words.h"

namespace crossover::bench {

inline constexpr std::uint32_t kMostTurns = 5000;

struct HandoverPage {
  std::uint32_t words[2];
  std::uint32_t ready;
  std::uint32_t go;
  std::array<std::array<std::int64_t, kMostTurns + 1>, 2> entered;
  std::array<std::array<std::int64_t, kMostTurns + 1>, 2> left;
};

struct HandoverOptions {
  Home home = Home::kHost;
  bool host_gates = false;  // the host waits at a futex before it launches
  bool synchronises =
      false;  // known bad: release by a host that looks every 200 us whether its stream is done
  std::uint32_t turns = 500;
  std::int64_t hold_us = 300;
};

// In a process of its own.
void RunHandoverClient(HandoverPage* page, int client, int socket, const HandoverOptions& options);

}  // namespace crossover::bench
