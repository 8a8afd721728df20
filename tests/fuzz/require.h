// Checks what must hold, whatever the input is. Otherwise the fuzzer ends, and says where.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace crossover::fuzz {

// clang 14 has no std::source_location.
inline void Require(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: this does not hold\n", file, line);
  std::abort();
}

}  // namespace crossover::fuzz
