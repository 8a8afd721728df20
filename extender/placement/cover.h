// Chooses from classes of options what gains enough with the fewest gangs. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace crossover::placement {

// An Option is one thing that can be done in a class.
struct Option {
  int gain;     // at least 1
  int gangs;    // gangs that the option takes
  double cost;  // at least 0
};

// Chooses at most one option of each class, so that the gains add up to at least `need`. The choice has the
// fewest gangs, and of these choices the least cost. Returns the index of each class's option, or -1 if none
// is chosen; returns nothing if all classes together gain too little. Takes time in proportion to `need`
// times the number of options.
std::optional<std::vector<int>> CheapestCover(std::span<const std::vector<Option>> classes, int need);

}  // namespace crossover::placement
