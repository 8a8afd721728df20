#include "common/files/read_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

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

std::optional<std::string> ReadOfProcess(pid_t pid, const char* file) {
  std::string why;
  return ReadFile("/proc/" + std::to_string(pid) + "/" + file, &why);
}

}  // namespace crossover::files
