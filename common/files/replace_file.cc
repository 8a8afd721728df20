#include "common/files/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/base/fd.h"
#include "common/base/retry.h"
#include "common/files/write_all.h"

namespace crossover::files {
namespace {

constexpr mode_t kUsualMode = 0666;  // less the process's umask

bool WriteInto(const std::string& path, const std::string& text) {
  const base::UniqueFd fd(
      base::RetryOnSignal([&] { return open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY); }));
  return fd && WriteAll(fd.get(), text);
}

// Writes `text` to a new file and renames it to `path`. `old` is the state of the present file; nullptr:
// there is none yet. Returns whether that worked; errno says why not.
bool Replace(const std::string& path, const struct stat* old, const std::string& text) {
  const std::string draft = path + "." + std::to_string(getpid()) + ".new";
  const base::UniqueFd fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kUsualMode));
  if (!fd) return false;
  const bool has_mode = old == nullptr || fchmod(fd.get(), old->st_mode & 07777) == 0;
  if (has_mode && WriteAll(fd.get(), text) && fsync(fd.get()) == 0 &&
      std::rename(draft.c_str(), path.c_str()) == 0)
    return true;
  const int why = errno;
  unlink(draft.c_str());
  errno = why;
  return false;
}

}  // namespace

std::string ReplaceFile(const std::string& path, const std::string& text) {
  struct stat old {};
  const bool is_there = stat(path.c_str(), &old) == 0;
  bool done = false;
  if (is_there && !S_ISREG(old.st_mode)) {
    done = WriteInto(path, text);
  } else {
    std::error_code unresolved;
    const std::filesystem::path target = std::filesystem::canonical(path, unresolved);
    done = Replace(unresolved ? path : target.string(), is_there ? &old : nullptr, text);
  }
  if (done) return "";
  const int why = errno;
  return path + ": cannot be written: " + std::strerror(why);
}

}  // namespace crossover::files
