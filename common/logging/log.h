// Writes one line per event to standard error, for daemons. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crossover::logging {

enum class Level : std::uint8_t { kError, kWarn, kInfo, kDebug };

std::optional<Level> ParseLevel(std::string_view name);  // of "error", "warn", "info" or "debug"
// Sets the level in force. Write() drops lines of levels that are more detailed.
void SetLevel(Level level);

enum class Format : std::uint8_t {
  kText,  // TIME LEVEL MESSAGE
  kJson   // an object with "time", "level" and "message"
};
void SetFormat(Format format);
// Returns the line as it is written, with its line feed.
std::string Line(Format format, std::string_view time, Level level, std::string_view message);

// Writes `line`, without a line feed at its end, if the level in force includes `level`.
void Write(Level level, std::string_view line);

inline void Error(std::string_view line) { Write(Level::kError, line); }
inline void Warn(std::string_view line) { Write(Level::kWarn, line); }
inline void Info(std::string_view line) { Write(Level::kInfo, line); }

}  // namespace crossover::logging
