// The instructions of a call, counted one by one: the processor traps after each, so that the count is the
// same on a busy machine. On x86-64 alone.
#pragma once

#include <cstdint>
#include <optional>

namespace crossover::bench {

struct Steps {
  std::int64_t instructions = 0;
  std::int64_t atomics = 0;       // of them, with a lock prefix
  std::int64_t system_calls = 0;  // of them, that enter the kernel
};

// What the thread runs of `call(argument)`, with the few instructions that call it: the same for each call.
// Nothing on another architecture. One thread at a time.
std::optional<Steps> CountSteps(void (*call)(void*), void* argument);

}  // namespace crossover::bench
