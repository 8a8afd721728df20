// Writes texts to open files. Thread-safe.
#pragma once

#include <string_view>

namespace crossover::files {

// Writes all of `text`, also where signals or short writes interrupt it. Returns whether it did. Sets errno
// where it did not.
bool WriteAll(int fd, std::string_view text);

}  // namespace crossover::files
