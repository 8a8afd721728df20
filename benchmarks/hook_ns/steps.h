// Counts the instructions of a call one by one. The processor traps after each instruction, so the count
// does not depend on the load of the machine. It works on x86-64 only.
#pragma once

#include <cstdint>
#include <optional>

namespace crossover::bench {

struct Steps {
  std::int64_t instructions = 0;
  std::int64_t atomics = 0;       // instructions with a lock prefix
  std::int64_t system_calls = 0;  // instructions that enter the kernel
};

// Counts what the thread executes in `call(argument)`. The count includes the few instructions that make
// the call; they are the same for each call. Returns nullopt on other architectures. REQUIRES: only one
// thread counts at a time.
std::optional<Steps> CountSteps(void (*call)(void*), void* argument);

}  // namespace crossover::bench
