#include "common/files/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include "common/base/fd.h"
#include "common/base/retry.h"

namespace crossover::files {
namespace {

base::UniqueFd Open(const std::string& path, int flags) {
  return base::UniqueFd(
      base::RetryOnSignal([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | flags); }));
}

// Returns what `fd` has, and ends early once that is more than `longest` bytes. Returns nothing, with errno
// set, if it cannot be read.
std::optional<std::string> ReadAll(int fd, std::size_t longest) {
  std::string text;
  std::array<char, 4096> buffer;
  while (text.size() <= longest) {
    const ssize_t size = base::RetryOnSignal([&] { return read(fd, buffer.data(), buffer.size()); });
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

std::string CannotBeRead(const std::string& path) {
  const int why = errno;
  return path + ": cannot be read: " + std::strerror(why);
}

}  // namespace

std::optional<std::string> ReadFile(const std::string& path, std::string* error) {
  const base::UniqueFd fd = Open(path, 0);
  std::optional<std::string> text;
  if (fd) text = ReadAll(fd.get(), std::numeric_limits<std::size_t>::max());
  if (!text) *error = CannotBeRead(path);
  return text;
}

std::optional<std::string> ReadStandardInput(std::string* error) {
  std::optional<std::string> text = ReadAll(STDIN_FILENO, std::numeric_limits<std::size_t>::max());
  if (!text) *error = CannotBeRead(kStandardInput);
  return text;
}

std::optional<std::string> ReadFileOfOthers(const std::string& path, std::size_t longest,
                                            std::string* error) {
  const base::UniqueFd fd = Open(path, O_NOFOLLOW | O_NONBLOCK);
  struct stat about {};
  if (fd && fstat(fd.get(), &about) == 0 && !S_ISREG(about.st_mode)) {
    *error = path + ": expected a regular file, got another kind of file";
    return std::nullopt;
  }
  std::optional<std::string> text;
  if (fd) text = ReadAll(fd.get(), longest);
  if (!text) {
    *error = CannotBeRead(path);
  } else if (text->size() > longest) {
    *error = path + ": expected at most " + std::to_string(longest) + " bytes, got more";
    text.reset();
  }
  return text;
}

std::optional<std::string> ReadOfProcess(pid_t pid, const char* file) {
  std::string why;
  return ReadFile("/proc/" + std::to_string(pid) + "/" + file, &why);
}

}  // namespace crossover::files
