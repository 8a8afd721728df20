#include "common/logging/log.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

#include "common/base/retry.h"

namespace crossover::logging {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"error", "warn", "info", "debug"};

std::atomic<Level> max_level{Level::kInfo};
std::atomic<Format> the_format{Format::kText};

std::string Timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm utc{};
  gmtime_r(&now.tv_sec, &utc);
  std::array<char, 40> text{};
  const std::size_t length = strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + length, text.size() - length, ".%03ldZ", now.tv_nsec / 1'000'000);
  return text.data();
}

// Appends `text` with JSON escapes. A byte that is not printable ASCII becomes an escape of its value.
void AppendEscaped(std::string_view text, std::string* json) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json->append({'\\', c});
    } else if (byte < 0x20 || byte >= 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", byte);
      json->append(escape.data());
    } else {
      json->push_back(c);
    }
  }
}

}  // namespace

std::string Line(Format format, std::string_view time, Level level, std::string_view message) {
  const std::string_view name = kNames[static_cast<std::size_t>(level)];
  std::string line;
  if (format == Format::kText)
    return line.append(time).append(" ").append(name).append(" ").append(message) + "\n";
  line.append(R"({"time":")").append(time).append(R"(","level":")").append(name).append(R"(","message":")");
  AppendEscaped(message, &line);
  return line + "\"}\n";
}

std::optional<Level> ParseLevel(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Level>(i);
  }
  return std::nullopt;
}

void SetLevel(Level level) { max_level = level; }
void SetFormat(Format format) { the_format = format; }

void Write(Level level, std::string_view line) {
  if (level > max_level.load(std::memory_order_relaxed)) return;
  const std::string text = Line(the_format.load(std::memory_order_relaxed), Timestamp(), level, line);
  // Each line is one write, so lines of several threads do not mix.
  base::RetryOnSignal([&] { return write(STDERR_FILENO, text.data(), text.size()); });
}

}  // namespace crossover::logging
