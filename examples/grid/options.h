// Reads the command line of the grid program.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "examples/grid/layout.h"

namespace crossover::grid {

// Fault is what is wrong with a run, for tests: the gradient of A is not summed up over the layers.
enum class Fault : std::uint8_t { kNone, kNoLayerSum };

struct Options {
  Grid grid;
  Sizes sizes{.rows = 64, .inner = 64, .columns = 64};
  Numbering numbering = Numbering::kRows;
  Fault fault = Fault::kNone;
  std::uint64_t iterations = 10;
  double product_ms = 0.2;  // how long a product of two blocks lasts
  std::string log;          // a file for the results; empty: none
};

// A UsageError is one line that names the flag, what is expected and the value.
struct UsageError {
  std::string text;
};
struct HelpWanted {};

// Reads the flags of a job of so many ranks.
std::variant<Options, HelpWanted, UsageError> ParseOptions(const std::vector<std::string>& arguments,
                                                           std::uint32_t ranks);
std::string HelpText();

}  // namespace crossover::grid
