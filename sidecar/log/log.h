// Lines on stderr, in the name of a guest in somebody else's process: silent unless something is degraded or
// CROSSOVER_LOG asks for more. No allocation.
#pragma once

namespace crossover::log {

enum class Level { kError, kWarn, kInfo, kDebug };

void SetLevel(Level level);

// printf-like; one line, "crossover: " in front. What would end the line or steer a terminal becomes '?'.
[[gnu::format(printf, 2, 3)]] void Write(Level level, const char* format, ...);

}  // namespace crossover::log
