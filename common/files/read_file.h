// Reads whole files. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

namespace crossover::files {

// Returns the whole file, which may be a file of /proc. Returns nothing, with "PATH: cannot be read:
// REASON" in `error`, on failure.
std::optional<std::string> ReadFile(const std::string& path, std::string* error);

// Returns all of standard input. Returns nothing, with a line in `error` that calls it kStandardInput, on
// failure.
std::optional<std::string> ReadStandardInput(std::string* error);
inline constexpr char kStandardInput[] = "standard input";

// Returns a file that an untrusted user may have written or replaced. Does not follow a symbolic link and
// does not block on a pipe. Returns nothing, with a line in `error`, if the path is no regular file, is
// longer than `longest` bytes, or cannot be read.
std::optional<std::string> ReadFileOfOthers(const std::string& path, std::size_t longest, std::string* error);

// Returns the file /proc/PID/`file`, such as "cgroup". Returns nothing if the process is gone or may not
// be read.
std::optional<std::string> ReadOfProcess(pid_t pid, const char* file);

}  // namespace crossover::files
