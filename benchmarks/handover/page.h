// What the processes of the hand-over benchmark share: a turnstile page, and the time stamps of each turn.
#pragma once

#include <array>
#include <cstdint>

#include "proto/turnstile.h"

namespace crossover::bench {

inline constexpr std::uint32_t kMaxTurns = 20000;
inline constexpr std::uint32_t kClients = 2;
inline constexpr std::uint32_t kMaxRounds = 2000;  // of a ping-pong

struct ClientTimes {
  std::array<std::int64_t, kMaxTurns + 1> entered;  // by turn number: first thing after its wait returned
  std::array<std::int64_t, kMaxTurns + 1> left;     // last thing before its release
};

struct SharedPage {
  crossover_page page;  // first, so that it is aligned to a page of memory
  std::array<ClientTimes, kClients> times;
  std::uint32_t ready_clients;  // how many have enqueued their first turns
  std::uint32_t go;
  std::uint32_t done;          // how many have ended
  std::uint32_t host_stopped;  // the releasing process's host does not run now
  std::array<std::uint32_t, 2> ping;
  std::array<std::int64_t, 2> said;  // when `ping` was stored
  std::int64_t there;                // how long the way there took
  std::array<std::int64_t, kMaxRounds> halves;
};

// Who opens the next gate.
enum class Granter {
  kStream,      // (a) the releasing stream, directly
  kKernel,      // (b) a one-thread kernel of the releasing stream
  kPoll,        // (c) a third process that polls `rel`
  kCallback,    // (d) a host function of the releasing stream
  kSynchronize  // known bad: the releasing host, once it has waited for its stream
};

struct Options {
  Granter granter = Granter::kStream;
  std::int64_t poll_us = 50;
  std::uint32_t turns = 2000;
  std::int64_t hold_us = 300;
  bool throttle = false;  // the releasing host stands still for 100 of every 400 ms
};

}  // namespace crossover::bench
