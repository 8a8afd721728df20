#include "common/files/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/base/fd.h"

namespace crossover::files {

std::optional<std::string> ReadFile(const std::string& path, std::string* error) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (file != nullptr) {
    const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (size == 0) break;
    text.append(buffer.data(), size);
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    *error = path + ": cannot be read: " + std::strerror(errno);
    return std::nullopt;
  }
  return text;
}

std::optional<std::string> ReadFileOfOthers(const std::string& path, std::size_t longest,
                                            std::string* error) {
  const base::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (fd && fstat(fd.get(), &about) == 0 && !S_ISREG(about.st_mode)) {
    *error = path + ": is no regular file";
    return std::nullopt;
  }
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t size = fd ? read(fd.get(), buffer.data(), buffer.size()) : -1;
    if (size < 0) {
      *error = path + ": cannot be read: " + std::strerror(errno);
      return std::nullopt;
    }
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > longest) {
      *error = path + ": is longer than " + std::to_string(longest) + " bytes";
      return std::nullopt;
    }
  }
}

std::optional<std::string> ReadOfProcess(pid_t pid, const char* file) {
  std::string why;
  return ReadFile("/proc/" + std::to_string(pid) + "/" + file, &why);
}

}  // namespace crossover::files
