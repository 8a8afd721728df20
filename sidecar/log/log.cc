#include "sidecar/log/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace crossover::log {
namespace {

constinit std::atomic<Level> threshold{Level::kWarn};
// The next variables name the file that descriptor 2 was at Begin(); 0 if it was closed. The variables are
// valid once `known` is true.
constinit dev_t device = 0;
constinit ino_t number = 0;
constinit std::atomic<bool> known{false};

// Replaces control characters by '?'. Text from other processes may contain line feeds, and so look like
// another line of the log, or characters that control a terminal.
void MakeOneLine(char* text) {
  constexpr char kDelete = 0x7f;
  for (; *text != '\0'; ++text) {
    if (static_cast<unsigned char>(*text) < ' ' || *text == kDelete) *text = '?';
  }
}

// Returns whether descriptor 2 is a socket that it was not at Begin(). The program has then closed its
// standard error and uses the number for a connection, into which a log line would go.
bool IsTaken() {
  struct stat status {};
  if (!known.load(std::memory_order_acquire)) return false;
  if (::fstat(STDERR_FILENO, &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  return status.st_dev != device || status.st_ino != number;
}

}  // namespace

void Begin() {
  if (known.load(std::memory_order_relaxed)) return;
  struct stat status {};
  if (::fstat(STDERR_FILENO, &status) == 0) {
    device = status.st_dev;
    number = status.st_ino;
  }
  known.store(true, std::memory_order_release);
}

void SetLevel(Level level) { threshold.store(level, std::memory_order_relaxed); }

void Write(Level level, const char* format, ...) {
  if (level > threshold.load(std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  char line[512] = "crossover: ";
  const std::size_t head = strlen(line);
  const std::size_t room = sizeof line - head - 1;  // keeps one byte for the end of the line
  va_list arguments;
  va_start(arguments, format);
  const int written = vsnprintf(line + head, room, format, arguments);
  va_end(arguments);
  if (written >= 0) {
    MakeOneLine(line + head);
    std::size_t length = head + std::min(static_cast<std::size_t>(written), room - 1);
    line[length++] = '\n';
    if (!IsTaken()) {
      [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line, length);
    }
  }
  errno = saved_errno;
}

}  // namespace crossover::log
