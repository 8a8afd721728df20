// Catches what readers of traces say about texts.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace crossover::benchmarks {

// Returns why a reader refuses a text, or "" if it does not.
inline std::string FaultOf(const std::function<void()>& read) {
  try {
    read();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace crossover::benchmarks
