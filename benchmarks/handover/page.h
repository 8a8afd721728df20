// Defines what the processes of the hand-over benchmark share: a turnstile page, and the time stamps of
// each turn.
#pragma once

#include <array>
#include <cstdint>

#include "proto/turnstile.h"

namespace crossover::bench {

inline constexpr std::uint32_t kMaxTurns = 20000;
inline constexpr std::uint32_t kClients = 2;
inline constexpr std::uint32_t kMaxRounds = 2000;  // most rounds of a ping-pong

struct ClientTimes {
  // Both arrays are indexed by turn number, and their times are in ns. `entered` has the first action after
  // the wait of the turn, `left` the last one before its release.
  std::array<std::int64_t, kMaxTurns + 1> entered;
  std::array<std::int64_t, kMaxTurns + 1> left;
};

struct SharedPage {
  crossover_page page;  // first, so that it starts at a page of memory
  std::array<ClientTimes, kClients> times;
  std::uint32_t ready_clients;  // clients that are ready
  std::uint32_t go;
  std::uint32_t done;          // clients that have ended
  std::uint32_t host_stopped;  // 1: the host of the releasing process is stopped
  std::array<std::uint32_t, 2> ping;
  std::array<std::int64_t, 2> said;  // times at which `ping` was stored
  std::int64_t there;                // duration of the last ping, in ns
  std::array<std::int64_t, kMaxRounds> halves;
};

// Says which agent opens the next gate.
enum class Granter {
  kStream,      // (a) the releasing stream itself
  kKernel,      // (b) a one-thread kernel on the releasing stream
  kPoll,        // (c) a third process, which polls `rel`
  kCallback,    // (d) a host function on the releasing stream
  kSynchronize  // known to be bad: the releasing host, after it has waited for its stream
};

struct Options {
  Granter granter = Granter::kStream;
  std::int64_t poll_us = 50;
  std::uint32_t turns = 2000;
  std::int64_t hold_us = 300;
  bool throttle = false;  // the releasing host is stopped for 100 of every 400 ms
};

}  // namespace crossover::bench
