// Repeats system calls that a signal handler interrupts. Thread-safe.
#pragma once

#include <cerrno>

namespace crossover::base {

// Makes the system call `call`, and makes it again as long as a signal interrupts it. Returns its result and
// leaves its errno. REQUIRES: a `call` with a timeout computes the time that is left whenever it is made.
template <class Call>
auto RetryOnSignal(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace crossover::base
