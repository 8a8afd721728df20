// Whole files. Thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>

namespace crossover::files {

// All of a file, also of one of /proc. Nothing, with "PATH: cannot be read: why" in `error`, where that
// fails.
std::optional<std::string> ReadFile(const std::string& path, std::string* error);

// Likewise a file of at most so many bytes that somebody else may have put there: no link to elsewhere is
// followed, and no pipe waited for.
std::optional<std::string> ReadFileOfOthers(const std::string& path, std::size_t longest, std::string* error);

// Of /proc/PID, such as "cgroup". Nothing of a process that is gone, or is not to be seen.
std::optional<std::string> ReadOfProcess(pid_t pid, const char* file);

}  // namespace crossover::files
