// Writes log lines to standard error. The library runs inside the user's process, so it writes nothing unless
// it can do less than it should, or CROSSOVER_LOG asks for more. Does not allocate.
#pragma once

namespace crossover::log {

enum class Level { kError, kWarn, kInfo, kDebug };

// Remembers which file standard error is. If that descriptor later is another file, and a socket, Write()
// writes nothing: the program has put a connection of its own there. Not thread-safe; later calls change
// nothing.
void Begin();

// Sets the least important level that is written; kWarn until then. Thread-safe.
void SetLevel(Level level);

// Writes one line of at most 512 bytes, formatted as by printf, with "crossover: " in front. Replaces what
// would end the line or steer a terminal by '?'. Keeps errno. Thread-safe.
[[gnu::format(printf, 2, 3)]] void Write(Level level, const char* format, ...);

}  // namespace crossover::log
