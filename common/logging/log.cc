#include "common/logging/log.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

namespace crossover::logging {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"error", "warn", "info", "debug"};

std::atomic<Level> max_level{Level::kInfo};

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

}  // namespace

std::optional<Level> ParseLevel(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Level>(i);
  }
  return std::nullopt;
}

void SetLevel(Level level) { max_level = level; }

void Write(Level level, std::string_view line) {
  if (level > max_level.load(std::memory_order_relaxed)) return;
  std::string text = Timestamp();
  text.append(" ").append(kNames[static_cast<std::size_t>(level)]).append(" ").append(line).append("\n");
  // One write per line: lines of several threads do not mix.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace crossover::logging
