// Whole files. Thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace crossover::files {

// All of a file, also of one of /proc. Nothing, with "PATH: cannot be read: why" in `error`, where that
// fails.
std::optional<std::string> ReadFile(const std::string& path, std::string* error);

// Of /proc/PID, such as "cgroup". Nothing of a process that is gone, or is not to be seen.
std::optional<std::string> ReadOfProcess(pid_t pid, const char* file);

}  // namespace crossover::files
