// Lets two clients hand a GPU back and forth, and records when each turn began and ended by the GPU's own
// clock.
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
  // Known bad: a host releases the turn. It looks every `look_us` whether its stream is done.
  bool synchronises = false;
  std::int64_t look_us = 200;
  std::uint32_t turns = 500;
  std::int64_t hold_us = 300;
};

// Takes turns as client 0 or 1 until all are done. REQUIRES: each client has a process of its own.
void RunHandoverClient(HandoverPage* page, int client, int socket, const HandoverOptions& options);

}  // namespace crossover::bench
