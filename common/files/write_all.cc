#include "common/files/write_all.h"

#include <unistd.h>

#include <cerrno>

#include "common/base/retry.h"

namespace crossover::files {

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = base::RetryOnSignal([&] { return write(fd, text.data(), text.size()); });
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace crossover::files
