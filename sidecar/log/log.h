// Writes log lines to stderr. The library is a guest in the user's process: it is silent unless something
// is degraded or CROSSOVER_LOG asks for more. Does not allocate.
#pragma once

namespace crossover::log {

enum class Level { kError, kWarn, kInfo, kDebug };

// Remembers which file standard error is. Where its number later stands for another file that is a socket,
// nothing is written: it is a connection of the program. Not thread-safe; later calls change nothing.
void Begin();

// Sets the least important level that is written; kWarn until then. Thread-safe.
void SetLevel(Level level);

// Writes one line of at most 512 bytes, formatted as by printf, with "crossover: " in front. Replaces what
// would end the line or steer a terminal by '?'. Keeps errno. Thread-safe.
[[gnu::format(printf, 2, 3)]] void Write(Level level, const char* format, ...);

}  // namespace crossover::log
