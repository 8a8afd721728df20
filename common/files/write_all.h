// Writes texts to open files. Thread-safe.
#pragma once

#include <string_view>

namespace crossover::files {

// Writes all of `text`, also if signals or short writes interrupt it. Returns whether all was written. Sets
// errno if not.
bool WriteAll(int fd, std::string_view text);

}  // namespace crossover::files
