// Prints answers.
#pragma once

#include <string>

namespace crossover::cli {

// Writes to standard output, at once. Returns whether that worked.
bool Print(const std::string& text);

}  // namespace crossover::cli
