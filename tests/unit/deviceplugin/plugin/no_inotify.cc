#include "tests/unit/deviceplugin/plugin/no_inotify.h"

#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace {

std::atomic<bool> used_up{false};

}  // namespace

// Stands in for the C library's function.
extern "C" int inotify_init1(int flags) noexcept {
  if (!used_up) return static_cast<int>(syscall(SYS_inotify_init1, flags));
  errno = EMFILE;
  return -1;
}

namespace crossover::deviceplugin {

NoInotify::NoInotify() { used_up = true; }
NoInotify::~NoInotify() { used_up = false; }

}  // namespace crossover::deviceplugin
