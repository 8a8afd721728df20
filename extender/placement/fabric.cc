#include "extender/placement/fabric.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace crossover::placement {
namespace {

// Returns whether all of the speeds are known, which are not 0, and not all are alike.
bool AreUnequal(const std::vector<double>& speeds) {
  return std::ranges::find(speeds, 0.0) == speeds.end() &&
         std::ranges::adjacent_find(speeds, std::ranges::not_equal_to()) != speeds.end();
}

// Sets the speeds of the uplinks, those above the nodes to 1, if the nodes tell theirs and not all are alike.
// `links` has the speed of each domain of the nodes' level, 0 if it is not known.
void AddSpeeds(std::vector<double> links, Fabric* fabric) {
  if (!AreUnequal(links)) return;
  for (const std::vector<int>& level : fabric->domains)
    fabric->speeds.emplace_back(static_cast<std::size_t>(std::ranges::max(level)) + 1, 1.0);
  fabric->speeds.back() = std::move(links);
}

}  // namespace

Fabric FabricOf(std::span<const SeatPlace> seats, std::size_t levels) {
  Fabric fabric{.domains = std::vector<std::vector<int>>(levels + 1)};
  std::map<std::vector<std::string>, int> numbers;  // by the path of domains from the widest on
  std::vector<int> counts(levels + 1);
  std::vector<double> links;  // by domain of the nodes' level
  for (const SeatPlace& seat : seats) {
    std::vector<std::string> path;
    for (std::size_t level = 0; level <= levels; ++level) {
      path.push_back(level == levels ? seat.node : level < seat.domains.size() ? seat.domains[level] : "");
      const auto [number, is_new] = numbers.try_emplace(path, counts[level]);
      if (is_new) ++counts[level];
      if (is_new && level == levels) links.push_back(seat.link);
      fabric.domains[level].push_back(number->second);
    }
  }
  AddSpeeds(std::move(links), &fabric);
  std::vector<double> speeds;
  for (const SeatPlace& seat : seats) speeds.push_back(seat.speed);
  if (AreUnequal(speeds)) fabric.seat_speeds = std::move(speeds);
  return fabric;
}

}  // namespace crossover::placement
