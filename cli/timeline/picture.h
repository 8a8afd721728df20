// Turns as text: one row per gang and GPU, filled where it holds the turn, hatched where it waits. Pure.
#pragma once

#include <cstddef>
#include <string>

namespace crossover::node::v1 {
class ListTurnsResponse;
class TurnEvent;
}  // namespace crossover::node::v1

namespace crossover::cli {

// The last `seconds` before the newest turn that `turns` tells of, in `width` columns.
std::string Picture(const node::v1::ListTurnsResponse& turns, double seconds, std::size_t width);

// One event as one line; empty for one that says nothing to people.
std::string EventLine(const node::v1::TurnEvent& event);

}  // namespace crossover::cli
