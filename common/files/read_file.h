// Whole files. Thread-safe.
#pragma once

#include <optional>
#include <string>

namespace crossover::files {

// All of a file, also of one of /proc. Nothing, with "PATH: cannot be read: why" in `error`, where that
// fails.
std::optional<std::string> ReadFile(const std::string& path, std::string* error);

}  // namespace crossover::files
