// Refuses options whose value is no number of a range.
#pragma once

#include <CLI/CLI.hpp>

namespace crossover::cli {

// Returns a check of an option: its value is a number from `low` to `high`. CLI::Range lets NaN pass, which
// is neither below nor above anything.
CLI::Validator Between(double low, double high);

}  // namespace crossover::cli
