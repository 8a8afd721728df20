// Draws turns as text: one row for each gang and GPU, filled while the gang holds the turn, hatched while
// it waits. Pure.
#pragma once

#include <cstddef>
#include <string>

namespace crossover::node::v1 {
class ListTurnsResponse;
class TurnEvent;
}  // namespace crossover::node::v1

namespace crossover::cli {

// Returns the chart of the last `seconds` before the newest turn in `turns`, in `width` columns.
std::string Chart(const node::v1::ListTurnsResponse& turns, double seconds, std::size_t width);

// Returns one event as one line, or "" if it tells users nothing.
std::string EventLine(const node::v1::TurnEvent& event);

}  // namespace crossover::cli
